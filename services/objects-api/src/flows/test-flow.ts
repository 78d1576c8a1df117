import { setImmediate } from 'node:timers/promises';
import { type FlowDefinition, type FlowUse, ServiceError } from '@decision/contracts';
import { collectReferences, compileRule } from '@decision/engine';
import { compileStoredFlow } from '@decision/execution';
import { evaluateFlow, FlowFault, type FlowPlan, type OutsideCall } from '@decision/flows';
import {
  type AssetRecord,
  asWorkspace,
  findBoundValues,
  findFollowedVersions,
  loadFlowVersion,
  loadVersion,
  type Transaction,
} from '@decision/persistence';
import {
  DEADLINE_MS,
  objectOf,
  readTests,
  requirePassed,
  runEach,
  saveOutcomes,
  SLICE_MS,
  type StoredTest,
  type TestClock,
  type Tested,
  type TestOutcome,
  tooSlow,
} from '../tests/run-suite';
import { findNamedAssets } from './flow-assets';

type Outputs = Readonly<Record<string, unknown>>;
type FlowRecord = AssetRecord<'flow'>;

/** A test of a flow; what nodes that reach out answer in it, by their refs. */
export interface FlowStoredTest extends StoredTest {
  readonly mocks?: Record<string, Record<string, unknown>>;
}

/** {@link readTests} for flows. */
export const readFlowTests = (suite: readonly Outputs[]): readonly FlowStoredTest[] =>
  readTests(suite).map((test, index) => {
    const mocks = suite[index]?.['mocks'];
    if (mocks === undefined) return test;
    const entries = Object.entries(objectOf(mocks)).map(([ref, outputs]) => [ref, { ...objectOf(outputs) }] as const);
    return { ...test, mocks: Object.fromEntries(entries) };
  });

/** If a flow must pass its tests before it is published, throws `tests_failed` with the names of the critical tests that fail. */
export const requireFlowTested = (
  transaction: Transaction,
  clock: TestClock,
  flow: FlowRecord,
  uses: readonly FlowUse[],
): Promise<void> => requirePassed('flow', flow, () => runTests(transaction, clock, flow, uses, true));

/**
 * Runs the tests of a draft with the rules and flows that it names now, and keeps their results. Nothing outside is called. Throws `flow_invalid`
 * where something that the draft names is gone, `rule_invalid` where a value has changed so that a rule cannot be executed, and `deadline_exceeded`.
 */
export const testFlow = async (
  transaction: Transaction,
  clock: TestClock,
  flow: FlowRecord,
  criticalOnly: boolean,
): Promise<readonly TestOutcome[]> => {
  // A flow runs what its definer let it name, whoever asks (V2).
  const { uses } = await asWorkspace(transaction, () => findNamedAssets(transaction, flow.graph));
  return runTests(transaction, clock, flow, uses, criticalOnly);
};

const runTests = async (
  transaction: Transaction,
  { now }: TestClock,
  flow: FlowRecord,
  uses: readonly FlowUse[],
  criticalOnly: boolean,
): Promise<readonly TestOutcome[]> => {
  const tests = readFlowTests(flow.testSuite).filter(({ critical }) => critical || !criticalOnly);
  if (tests.length === 0) return [];
  const plan = await asWorkspace(transaction, () => compileDraft(transaction, flow, uses));
  const startedAt = now();
  const slices = new Slices(tests.length);
  const elapsed = () => performance.now();
  const outcomes = await runEach(tests, { elapsed, pause: slices.pause }, (test) => runTest(plan, test, startedAt, slices)); // prettier-ignore
  return saveOutcomes(transaction, flow.id, startedAt, outcomes);
};

/** Names the draft among the versions that it runs. */
const DRAFT = 'draft';

/** Compiles the draft with everything that it runs, as published flows are compiled. Throws `flow_invalid`. */
const compileDraft = async (
  transaction: Transaction,
  { graph, requestSchema, responseSchema, settings }: FlowRecord,
  uses: readonly FlowUse[],
): Promise<FlowPlan> => {
  const draft = { ...graph, requestSchema, responseSchema, settings, uses: [...uses], reaches_out: true };
  const definitions = await loadDefinitions(transaction, DRAFT, draft as FlowDefinition);
  const meaning = await followRules(transaction, [...definitions.values()]);
  const sources = {
    rules: { open: (_workspace: string, versionId: string) => openRule(transaction, versionId) },
    describeRule: () => Promise.resolve(undefined),
  };
  const { plan } = await compileStoredFlow(sources, {
    ...{ workspaceId: '', versionId: DRAFT, definitions, reachesOut: true },
    versionOf: (use) => meaning.get(nameOf(use)) ?? use.version_id,
  });
  if (plan instanceof ServiceError) throw plan;
  if (plan === undefined) throw new ServiceError('internal_error', 'The draft could not be compiled for its tests.');
  return plan;
};

/** A flow and the flows that it runs, by version; those that others use come first. */
const loadDefinitions = async (
  transaction: Transaction,
  versionId: string,
  definition: FlowDefinition,
  known = new Map<string, FlowDefinition>(),
): Promise<ReadonlyMap<string, FlowDefinition>> => {
  for (const { kind, version_id: used } of definition.uses) {
    if (kind !== 'flow' || known.has(used)) continue;
    const found = await loadFlowVersion(transaction, used);
    if (found === undefined) throw gone();
    await loadDefinitions(transaction, used, found.definition, known);
  }
  return known.set(versionId, definition);
};

const gone = (): ServiceError =>
  new ServiceError('version_not_found', 'Something that the flow runs was deleted; import the flow again to see what.');

/** The versions of rules that `latest` and environments mean now. */
const followRules = async (
  transaction: Transaction,
  definitions: readonly FlowDefinition[],
): Promise<ReadonlyMap<string, string>> => {
  const following = definitions
    .flatMap(({ uses }) => uses)
    .filter(({ kind, selector }) => kind === 'rule' && !/^\d+$/.test(selector));
  const versions = await findFollowedVersions(transaction, following);
  return new Map(following.flatMap((use, index) => (versions[index] ? [[nameOf(use), versions[index]] as const] : [])));
};

const nameOf = ({ slug, selector }: FlowUse): string => `${slug} ${selector}`;

const openRule = async (transaction: Transaction, versionId: string) => {
  const table = await loadVersion(transaction, versionId);
  if (table === undefined) throw gone();
  const values = await findBoundValues(transaction, collectReferences(table).ids);
  const byId = new Map(values.map(({ id, name, type, content }) => [id, { id, name, type, value: content }]));
  const rule = compileRule(table, { values: { revision: 0, get: (id) => byId.get(id) } });
  return { rule, inputs: table.requestSchema, outputs: table.responseSchema, bytes: 0, refresh: undefined };
};

/** Shares the thread between tests and other work, and ends them at their deadline. */
class Slices {
  private readonly begun = performance.now();
  private sliceStart = this.begun;
  private readonly controller = new AbortController();

  /** `total`: how many tests there are. */
  constructor(private readonly total: number) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  readonly mayGoOn = (): boolean => performance.now() - this.sliceStart < SLICE_MS;

  readonly pause = async (): Promise<void> => {
    await setImmediate();
    this.sliceStart = performance.now();
    if (this.sliceStart - this.begun > DEADLINE_MS) this.controller.abort(tooSlow(0, this.total));
  };
}

const runTest = async (plan: FlowPlan, test: FlowStoredTest, now: number, slices: Slices): Promise<Tested> => {
  const unmocked: string[] = [];
  const call = ({ node, path }: OutsideCall): Promise<Outputs> => {
    const name = path.join('/');
    const mocks = test.mocks ?? {};
    if (Object.hasOwn(mocks, name)) return Promise.resolve(mocks[name] ?? {});
    // Nothing depends on what it answers, and nothing is sent (CN-152).
    if (node.type === 'notification') return Promise.resolve({});
    unmocked.push(name);
    return Promise.reject(new FlowFault(`has no outputs among the mocks of the test`));
  };
  const { mayGoOn, pause, signal } = slices;
  const outcome = await evaluateFlow(plan, test.request, { now, call, mayGoOn, pause, signal });
  // Whatever the node makes of a failed call, a test that lacks an answer says nothing.
  const [missing] = unmocked;
  if (missing !== undefined) {
    const message = `The node "${missing}" reaches out, and tests call nothing outside: give its outputs in the test as "mocks": {"${missing}": {...}}.`;
    return { ok: false, error: { message } };
  }
  return outcome.ok ? { ok: true, output: outcome.output, matched: [] } : outcome;
};
