import { setImmediate } from 'node:timers/promises';
import { type FlowDefinition, type FlowUse, ServiceError } from '@decision/contracts';
import { collectReferences, compileRule } from '@decision/engine';
import { compileStoredFlow } from '@decision/execution';
import { type CallFor, evaluateFlow, FlowFault, type FlowPlan, type FlowRun, type OutsideCall } from '@decision/flows';
import {
  type AssetRecord,
  asWorkspace,
  findBoundValues,
  findFollowedVersions,
  loadFlowVersion,
  loadVersion,
  type Transaction,
  type WorkspaceAccess,
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
import { type LiveCalls } from '../tests/live-calls';

type Outputs = Readonly<Record<string, unknown>>;
type FlowRecord = AssetRecord<'flow'>;

/** A test of a flow, with the answers of nodes that call the outside, by their refs. */
export interface FlowStoredTest extends StoredTest {
  readonly mocks?: Record<string, Record<string, unknown>>;
  /** Whether nodes that are not mocked call the outside. */
  readonly live?: true;
}

/** Dependencies of tests of flows. */
interface FlowTestTools extends TestClock {
  readonly live: LiveCalls;
  /** On whose behalf live tests make their calls. */
  readonly access: WorkspaceAccess;
}

/** {@link readTests} for flows. */
export const readFlowTests = (suite: readonly Outputs[]): readonly FlowStoredTest[] =>
  readTests(suite).map((test, index) => {
    const { mocks, live } = suite[index] ?? {};
    const own = live === true ? { ...test, live: true as const } : test;
    if (mocks === undefined) return own;
    const entries = Object.entries(objectOf(mocks)).map(([ref, outputs]) => [ref, { ...objectOf(outputs) }] as const);
    return { ...own, mocks: Object.fromEntries(entries) };
  });

/** If a flow must pass its tests before it is published, throws `tests_failed` with the names of the critical tests that fail. */
export const requireFlowTested = (
  transaction: Transaction,
  tools: FlowTestTools,
  flow: FlowRecord,
  uses: readonly FlowUse[],
): Promise<void> => requirePassed('flow', flow, () => runTests(transaction, tools, flow, uses, true));

/**
 * Runs the tests of a draft with the rules and flows that it names now, and stores their results. Only tests that say `live` make outside calls.
 * Throws `flow_invalid` if an asset that the draft names is gone, `rule_invalid` if a value has changed so that a rule cannot be executed,
 * `deadline_exceeded`, and `overloaded` if too many live tests run.
 */
export const testFlow = async (
  transaction: Transaction,
  tools: FlowTestTools,
  flow: FlowRecord,
  criticalOnly: boolean,
): Promise<readonly TestOutcome[]> => {
  // A flow runs the assets that its author could name, whoever calls it (V2).
  const { uses } = await asWorkspace(transaction, () => findNamedAssets(transaction, flow.graph));
  return runTests(transaction, tools, flow, uses, criticalOnly);
};

const runTests = async (
  transaction: Transaction,
  { now, live, access }: FlowTestTools,
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
  const runAll = (callFor?: CallFor) =>
    runEach(tests, { elapsed, pause: slices.pause }, (test) =>
      runTest(plan, { access, flow, test, now: startedAt, callFor }, slices),
    );
  const outcomes = await (tests.some((test) => test.live) ? live.run(runAll) : runAll());
  return saveOutcomes(transaction, flow.id, startedAt, outcomes);
};

/** Identifies the draft among the versions that it runs. */
const DRAFT = 'draft';

/** Compiles the draft with all its rules and flows, as published flows are compiled. Throws `flow_invalid`. */
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

/** A flow and the flows that it runs, by version; used flows come before their users. */
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

/** The versions of rules that `latest` and environments select now. */
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

/** Shares the thread between tests and other work, and ends the tests at their deadline. */
class Slices {
  private readonly begun = performance.now();
  private sliceStart = this.begun;
  private readonly controller = new AbortController();

  /** `total`: the number of tests. */
  constructor(private readonly total: number) {}

  /** Epoch ms after which nobody waits for the tests. */
  get deadline(): number {
    return Date.now() + DEADLINE_MS - (performance.now() - this.begun);
  }

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

/** A running test. */
interface TestRun {
  readonly access: WorkspaceAccess;
  readonly flow: FlowRecord;
  readonly test: FlowStoredTest;
  /** Epoch ms: the clock of its request. */
  readonly now: number;
  /** Undefined if no test of the suite makes outside calls. */
  readonly callFor: CallFor | undefined;
}

const runTest = async (plan: FlowPlan, run: TestRun, slices: Slices): Promise<Tested> => {
  const { test, now, callFor } = run;
  const unmocked: string[] = [];
  const outside = test.live === true ? callFor?.(liveRun(run, slices)) : undefined;
  const call = (asked: OutsideCall): Promise<Outputs> => {
    const name = asked.path.join('/');
    const mocks = test.mocks ?? {};
    if (Object.hasOwn(mocks, name)) return Promise.resolve(mocks[name] ?? {});
    // Nothing depends on its answer, and nothing is sent (CN-152).
    if (asked.node.type === 'notification') return Promise.resolve({});
    if (outside !== undefined) return outside(asked);
    unmocked.push(name);
    return Promise.reject(new FlowFault(`has no outputs among the mocks of the test`));
  };
  const { mayGoOn, pause, signal } = slices;
  const outcome = await evaluateFlow(plan, test.request, { now, call, mayGoOn, pause, signal });
  // However the node handles a failed call, a test that lacks an answer proves nothing.
  const [missing] = unmocked;
  if (missing !== undefined) {
    const message = `The node "${missing}" reaches out, and tests call nothing outside: give its outputs in the test as "mocks": {"${missing}": {...}}, or say "live": true.`;
    return { ok: false, error: { message } };
  }
  return outcome.ok ? { ok: true, output: outcome.output, matched: [] } : outcome;
};

/** Each run names the outside calls of a live test differently: a test that runs again is meant to call again. */
const liveRun = ({ access: { workspaceId, origin }, flow, test, now }: TestRun, { deadline }: Slices): FlowRun => ({
  ...{ workspaceId, versionId: DRAFT, deadline, round: 0 },
  idempotencyRoot: JSON.stringify(['test', flow.id, test.id, now]),
  requestId: origin?.requestId ?? '',
});
