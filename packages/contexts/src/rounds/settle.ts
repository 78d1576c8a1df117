import { type ExecutionRecord, type SettledNotification } from '@decision/contracts';
import { type BoundAsset, inputsOf, inWritingOrder, relationsRead } from '../assets/bound-asset';
import { isReady } from '../assets/readiness';
import { faultOfList } from '../derived/aggregates';
import { historyOfChange, type HistorySource, noHistory, withChange } from '../derived/derive-facts';
import { canonicalJson, type Facts, mergeFacts, quoted } from '../facts/facts';
import { checkRecord, sentenceOf } from '../instances/check-record';
import { deriveState } from '../instances/resolved-instance';
import {
  type AssetAnswer,
  type AssetRun,
  type Executions,
  type Settled,
  type SettleEnd,
  type SettlePorts,
  type SettleTask,
  type SettlingInstance,
} from './settle-task';
import { disownFacts, noteRun, writeOutputs } from './write-outputs';

/** Bytes of the tried versions and inputs of one settling; beyond it the settling stops (C67). About 65,000 rounds of one asset. */
export const TRIED_BYTES = 16 * 1024 * 1024;
/** Bytes reserved for each settling, even if the others have used all of the shared memory. About 250 rounds of one asset. */
export const OWN_TRIED_BYTES = 64 * 1024;

/**
 * Runs the assets of an instance in rounds until nothing is due, or says why it stopped (C60 to C75). An asset is due if it is ready and
 * its version or inputs differ from those of its last success. Only answers that wait are awaited
 * (docs/adr/0083-settling-awaits-only-what-waits.md).
 */
export const settle = (task: SettleTask, ports: SettlePorts): Promise<Settled> =>
  new Settling(task, ports).runAndFree();

/** The outcome of settling an instance for which nothing is due; undefined if something is. Nothing is executed. */
export const lookAhead = (task: SettleTask, hash: SettlePorts['hash']): Settled | undefined =>
  new Settling(task, { ...EXECUTING_NOTHING, hash }).outcomeWithoutRun();

const EXECUTING_NOTHING: Omit<SettlePorts, 'hash'> = {
  execute: () => ({ status: 'unavailable', error: 'Nothing is executed here.' }),
  isOver: () => true,
  isFull: () => false,
  pause: () => undefined,
  onFault: () => undefined,
  collections: () => undefined,
};

/** An asset with its would-be inputs. */
interface Candidate {
  readonly asset: BoundAsset;
  readonly key: string;
  readonly inputs: Facts;
}

class Settling implements SettlingInstance {
  /** Whether assets are running, so that they may merge facts. */
  private isRunning = false;
  private facts: Facts;
  private executions: Executions;
  /** The state computed from these facts. */
  private resolved: { readonly facts: Facts; readonly state: Facts } | undefined;
  private readonly considered: ReturnType<typeof inWritingOrder>;
  /** Outcome of each asset, by key; the last run counts. */
  private readonly runs = new Map<string, AssetRun>();
  /** Versions and inputs that were tried, by whether the asset failed or succeeded. */
  private readonly failed = new Set<string>();
  private readonly succeeded = new Set<string>();
  /** Approximate bytes of both. */
  private triedBytes = 0;
  /** Hash of the last inputs of each asset, by key. */
  private readonly hashes = new Map<string, { readonly inputs: Facts; readonly hash: string }>();
  private forced: string | undefined;
  private degraded: string | undefined;
  private anyReady = false;
  private rounds = 0;
  private notifications: readonly SettledNotification[] | undefined;

  constructor(
    private readonly task: SettleTask,
    private readonly ports: SettlePorts,
  ) {
    const { only, facts, state } = task;
    this.facts = facts;
    if (state !== undefined) this.resolved = { facts, state };
    this.executions = task.executions;
    this.forced = task.forced;
    const assets = inWritingOrder(task.assets);
    this.considered = only === undefined ? assets : assets.filter(({ key }) => only.has(key));
  }

  outcomeWithoutRun(): Settled | undefined {
    const due = this.findDue(1);
    return due.length === 0 ? this.end('fixpoint', due) : undefined;
  }

  async runAndFree(): Promise<Settled> {
    try {
      return await this.run();
    } finally {
      this.ports.tried?.free(this.triedBytes);
    }
  }

  private async run(): Promise<Settled> {
    for (;;) {
      const due = this.findDue();
      if (due.length === 0) return this.end('fixpoint', due);
      if (due.some((candidate) => this.hasTried(this.succeeded, candidate))) return this.end('repeated_state', due);
      if (this.ports.isOver()) return this.end('deadline', due);
      if (this.isFull(due)) return this.end('memory_bound', due);
      this.rounds += 1;
      this.isRunning = true;
      const running = due.map((candidate) => this.execute(candidate));
      const answers = running.every(isAnswer) ? running : await Promise.all(running.map((one) => Promise.resolve(one)));
      this.isRunning = false;
      due.forEach((candidate, index) => this.take(candidate, answers[index] ?? NO_ANSWER));
      const pause = this.ports.pause();
      if (pause !== undefined) await pause;
    }
  }

  /** Caches the state, so that unchanged facts are not derived again. */
  state(): Facts {
    if (this.resolved?.facts !== this.facts) {
      const { model, sources } = this.task;
      const history = this.historyNow(sources.history ?? noHistory);
      this.resolved = { facts: this.facts, state: deriveState(model, this.facts, { ...sources, history }).state };
    }
    return this.resolved.state;
  }

  join(given: Facts): string | undefined {
    if (!this.isRunning) return 'The round of the operation that ran this has ended.';
    const { model } = this.task;
    const { key } = model.identity;
    if (Object.hasOwn(given, key) && canonicalJson(given[key]) !== canonicalJson(this.facts[key]))
      return `The identity fact ${quoted(key)} of an instance cannot be changed.`;
    const check = checkRecord(model, given, this.ports.collections);
    if (!check.ok) return sentenceOf(check.mismatches, check.count);
    this.facts = mergeFacts(this.facts, check.facts);
    this.executions = disownFacts(this.executions, Object.keys(check.facts));
    return undefined;
  }

  /** Without feedback no asset runs twice, and a first run is never refused for memory. */
  private isFull(due: readonly Candidate[]): boolean {
    if (!due.some(({ key }) => this.runs.get(key)?.status === 'success')) return false;
    const { isFull, tried } = this.ports;
    return this.triedBytes > TRIED_BYTES || (this.triedBytes > OWN_TRIED_BYTES && tried?.isFull === true) || isFull();
  }

  /** Assets that are ready and due, up to `most`; those before them that are ready but not due are recorded as skipped. */
  private findDue(most = Infinity): readonly Candidate[] {
    const { model, sources, ancestors } = this.task;
    const state = this.state();
    const due: Candidate[] = [];
    for (const { asset, key } of this.considered) {
      if (!isReady(model, asset, state)) continue;
      this.anyReady = true;
      const candidate = { asset, key, inputs: inputsOf(asset, state, sources.related) };
      if (!this.isDue(candidate)) continue;
      if (ancestors?.has(key) === true) this.skip(candidate, 'skipped_in_progress');
      else due.push(candidate);
      if (due.length === most) break;
    }
    return due;
  }

  /** Computed anew only if the inputs have changed: most rounds leave those of most assets as they were. */
  private hashOf({ key, inputs }: Candidate): string {
    const last = this.hashes.get(key);
    if (last !== undefined && hasSameMembers(last.inputs, inputs)) return last.hash;
    const hash = this.ports.hash(canonicalJson(inputs));
    this.hashes.set(key, { inputs, hash });
    return hash;
  }

  private isDue(candidate: Candidate): boolean {
    const { asset, key } = candidate;
    if (this.forced === key) return true;
    if (this.hasTried(this.failed, candidate) || this.runs.get(key)?.unavailable === true) return false;
    const last = this.executions[key]?.last_success;
    const isUnchanged =
      last?.effective_version === asset.effectiveVersion && last.input_hash === this.hashOf(candidate);
    if (isUnchanged) this.skip(candidate, 'skipped_already_run');
    return !isUnchanged;
  }

  private skip({ key, asset: { type, slug } }: Candidate, status: 'skipped_already_run' | 'skipped_in_progress'): void {
    if (!this.runs.has(key)) this.runs.set(key, { type, slug, status });
  }

  private execute({ asset, key, inputs }: Candidate): Promise<AssetAnswer> | AssetAnswer {
    const { aggregates } = this.task.sources;
    const faults = relationsRead(asset).flatMap((relation) => faultOfList(aggregates, relation) ?? []);
    if (faults[0] !== undefined) return { status: 'evaluation_error', error: `${faults[0]}.` };
    const withoutAnswer = (error: unknown): AssetAnswer => {
      this.ports.onFault(asset, error);
      return NO_ANSWER;
    };
    try {
      const answer = this.ports.execute(asset, inputs, successesOf(this.executions[key]), this);
      return isAnswer(answer) ? answer : answer.catch(withoutAnswer);
    } catch (error) {
      return withoutAnswer(error);
    }
  }

  private take(candidate: Candidate, answer: AssetAnswer): void {
    const { asset, key } = candidate;
    const { type, slug } = asset;
    if (this.forced === key) this.forced = undefined;
    if (answer.status === 'unavailable') {
      this.degraded = answer.error;
      this.runs.set(key, { type, slug, status: 'infrastructure_error', unavailable: true, error: answer.error });
      return;
    }
    if (answer.status !== 'success') return this.fail(candidate, answer.status, answer);
    const { model } = this.task;
    const { facts, executions, ports } = this;
    const write = writeOutputs({
      model,
      asset,
      outputs: answer.outputs,
      collections: ports.collections,
      facts,
      executions,
    });
    const { executionId } = answer;
    if (!write.ok) return this.fail(candidate, 'evaluation_error', { error: write.error, executionId });
    this.facts = write.facts;
    if (answer.notifications !== undefined)
      this.notifications = [...(this.notifications ?? []), ...answer.notifications];
    this.noteTry(this.succeeded, candidate);
    const { written, cleared } = write;
    this.note(candidate, 'success', written);
    const named = executionId === undefined ? {} : { executionId };
    const run = { type, slug, status: 'success', ...named, result: answer.outputs, written } as const;
    this.runs.set(key, cleared.length === 0 ? run : { ...run, cleared });
  }

  private fail(
    candidate: Candidate,
    status: 'evaluation_error' | 'infrastructure_error',
    { error, executionId }: { readonly error: string; readonly executionId?: string | undefined },
  ): void {
    const { type, slug } = candidate.asset;
    this.noteTry(this.failed, candidate);
    this.note(candidate, status, [], error);
    const named = executionId === undefined ? {} : { executionId };
    this.runs.set(candidate.key, { type, slug, status, error, ...named });
  }

  private hasTried(tries: ReadonlySet<string>, candidate: Candidate): boolean {
    return tries.size > 0 && tries.has(this.tryOf(candidate));
  }

  private tryOf(candidate: Candidate): string {
    return `${candidate.key} ${candidate.asset.effectiveVersion} ${this.hashOf(candidate)}`;
  }

  private noteTry(tries: Set<string>, candidate: Candidate): void {
    const text = this.tryOf(candidate);
    if (tries.has(text)) return;
    tries.add(text);
    const bytes = text.length * BYTES_OF_UNIT + BYTES_OF_ENTRY;
    this.triedBytes += bytes;
    this.ports.tried?.take(bytes);
  }

  private note(
    candidate: Candidate,
    status: 'success' | 'evaluation_error' | 'infrastructure_error',
    written: readonly string[],
    error?: string,
  ): void {
    const { now } = this.task.sources;
    const { asset } = candidate;
    const inputHash = this.hashOf(candidate);
    this.executions = noteRun(this.executions, { asset, status, inputHash, now, written, error });
  }

  /** Committed entries follow the changes of this settling. */
  private historyNow(committed: HistorySource): HistorySource {
    const { model, facts: before, sources } = this.task;
    return withChange(historyOfChange(model, before, this.facts, sources.now), committed);
  }

  private end(ended: SettleEnd, due: readonly Candidate[]): Settled {
    const runs = [...this.runs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, run]) => run);
    const { facts, executions, degraded, anyReady, rounds, notifications } = this;
    const unfinished = due.map(({ key }) => key);
    return { facts, executions, runs, ended, unfinished, degraded, anyReady, rounds, notifications };
  }
}

/** Maximum bytes of a text per UTF-16 unit, and its overhead in a set. */
const BYTES_OF_UNIT = 2;
const BYTES_OF_ENTRY = 64;

const NO_ANSWER: AssetAnswer = { status: 'infrastructure_error', error: 'The execution broke off without an answer.' };

/** Trying a failed run again is the same run. */
const successesOf = (record: ExecutionRecord | undefined): number =>
  record === undefined ? 0 : record.run_count - (record.failure_count ?? 0);

const isAnswer = (answer: Promise<AssetAnswer> | AssetAnswer): answer is AssetAnswer => !(answer instanceof Promise);

/** Whether both have the same members, each the same value or the same object. */
const hasSameMembers = (one: Facts, other: Facts): boolean => {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => Object.is(one[name], other[name]));
};
