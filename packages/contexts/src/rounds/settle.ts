import { assetKey, type BoundAsset, compareAssets, inputsOf, relationsRead } from '../assets/bound-asset';
import { isReady } from '../assets/readiness';
import { isTooLong, tooLongMessage } from '../derived/aggregates';
import { type HistorySource, historyOfChange, noHistory } from '../derived/history';
import { canonicalJson } from '../facts/canonical-json';
import { type Facts } from '../facts/facts';
import { resolveInstance } from '../instances/resolved-instance';
import { recordRun } from './execution-record';
import {
  type AssetAnswer,
  type AssetRun,
  type Executions,
  type SettleEnd,
  type SettlePorts,
  type SettleTask,
  type Settled,
} from './settle-task';
import { writeOutputs } from './write-outputs';

/** Rounds beyond the number of assets after which a settling stops (C67). */
export const EXTRA_ROUNDS = 100;

/**
 * Runs the assets of an instance in rounds until nothing is due, or says why it stopped (C60 to C75). An asset is due where it is ready and its
 * version or inputs are not those of its last success.
 */
export const settle = (task: SettleTask, ports: SettlePorts): Promise<Settled> => new Settling(task, ports).run();

/** An asset with what it would be given. */
interface Candidate {
  readonly asset: BoundAsset;
  readonly key: string;
  readonly inputs: Facts;
  readonly inputHash: string;
}

class Settling {
  private facts: Facts;
  private executions: Executions;
  private readonly considered: readonly BoundAsset[];
  /** What became of each asset, by key; the last run stands. */
  private readonly runs = new Map<string, AssetRun>();
  /** Versions and inputs with which an asset was tried and failed, and with which it succeeded. */
  private readonly failed = new Set<string>();
  private readonly succeeded = new Set<string>();
  /** Of the inputs that each asset had last, by key. */
  private readonly hashes = new Map<string, { readonly text: string; readonly hash: string }>();
  private forced: string | undefined;
  private degraded: string | undefined;
  private anyReady = false;

  constructor(
    private readonly task: SettleTask,
    private readonly ports: SettlePorts,
  ) {
    const { only } = task;
    this.facts = task.facts;
    this.executions = task.executions;
    this.forced = task.forced;
    this.considered = [...task.assets]
      .filter((asset) => only === undefined || only.has(assetKey(asset)))
      .sort(compareAssets);
  }

  async run(): Promise<Settled> {
    for (let round = 0; ; round += 1) {
      const due = this.findDue();
      if (due.length === 0) return this.end('fixpoint', due);
      if (due.some((candidate) => this.succeeded.has(tryOf(candidate)))) return this.end('repeated_state', due);
      if (round >= this.considered.length + EXTRA_ROUNDS) return this.end('round_bound', due);
      if (this.ports.isOver()) return this.end('deadline', due);
      const answers = await Promise.all(due.map((candidate) => this.execute(candidate)));
      due.forEach((candidate, index) => this.take(candidate, answers[index] ?? NO_ANSWER));
    }
  }

  /** Assets that are ready and due; those that are ready and not due are noted as skipped. */
  private findDue(): readonly Candidate[] {
    const { model, sources, ancestors } = this.task;
    const history = this.historyNow(sources.history ?? noHistory);
    const { state } = resolveInstance(model, this.facts, { ...sources, history });
    const due: Candidate[] = [];
    for (const asset of this.considered) {
      if (!isReady(model, asset, state)) continue;
      this.anyReady = true;
      const inputs = inputsOf(asset, state, sources.related);
      const key = assetKey(asset);
      const candidate = { asset, key, inputs, inputHash: this.hashOf(key, inputs) };
      if (!this.isDue(candidate)) continue;
      if (ancestors?.has(candidate.key) === true) this.skip(candidate, 'skipped_in_progress');
      else due.push(candidate);
    }
    return due;
  }

  /** Mostly a round leaves the inputs of most assets as they were. */
  private hashOf(key: string, inputs: Facts): string {
    const text = canonicalJson(inputs);
    const last = this.hashes.get(key);
    if (last?.text === text) return last.hash;
    const hash = this.ports.hash(text);
    this.hashes.set(key, { text, hash });
    return hash;
  }

  private isDue(candidate: Candidate): boolean {
    const { asset, key, inputHash } = candidate;
    if (this.forced === key) return true;
    if (this.failed.has(tryOf(candidate)) || this.runs.get(key)?.unavailable === true) return false;
    const last = this.executions[key]?.last_success;
    const isUnchanged = last?.effective_version === asset.effectiveVersion && last.input_hash === inputHash;
    if (isUnchanged) this.skip(candidate, 'skipped_already_run');
    return !isUnchanged;
  }

  private skip({ key, asset: { type, slug } }: Candidate, status: 'skipped_already_run' | 'skipped_in_progress'): void {
    if (!this.runs.has(key)) this.runs.set(key, { type, slug, status });
  }

  private async execute({ asset, inputs }: Candidate): Promise<AssetAnswer> {
    const { aggregates } = this.task.sources;
    const tooLong = relationsRead(asset).find((relation) => isTooLong(aggregates, relation));
    if (tooLong !== undefined) return { status: 'evaluation_error', error: `${tooLongMessage(tooLong)}.` };
    try {
      return await this.ports.execute(asset, inputs);
    } catch {
      return NO_ANSWER;
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
    if (answer.status !== 'success') return this.fail(candidate, answer.status, answer.error);
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
    if (!write.ok) return this.fail(candidate, 'evaluation_error', write.error);
    this.facts = write.facts;
    this.succeeded.add(tryOf(candidate));
    this.note(candidate, 'success', write.written);
    this.runs.set(key, { type, slug, status: 'success', result: answer.outputs, written: write.written });
  }

  private fail(candidate: Candidate, status: 'evaluation_error' | 'infrastructure_error', error: string): void {
    const { type, slug } = candidate.asset;
    this.failed.add(tryOf(candidate));
    this.note(candidate, status, [], error);
    this.runs.set(candidate.key, { type, slug, status, error });
  }

  private note(
    { asset, key, inputHash }: Candidate,
    status: 'success' | 'evaluation_error' | 'infrastructure_error',
    written: readonly string[],
    error?: string,
  ): void {
    const { now } = this.task.sources;
    const record = recordRun(this.executions[key], { asset, status, inputHash, now, written, error });
    this.executions = { ...this.executions, [key]: record };
  }

  /** Committed entries, behind the changes of this settling. */
  private historyNow(committed: HistorySource): HistorySource {
    const { model, facts: before, sources } = this.task;
    const changes = historyOfChange(model, before, this.facts, sources.now);
    return (fact) => {
      const entry = changes.get(fact);
      return entry === undefined ? committed(fact) : [entry, ...committed(fact)];
    };
  }

  private end(ended: SettleEnd, due: readonly Candidate[]): Settled {
    const runs = [...this.runs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, run]) => run);
    const { facts, executions, degraded, anyReady } = this;
    return { facts, executions, runs, ended, unfinished: due.map(({ key }) => key), degraded, anyReady };
  }
}

const NO_ANSWER: AssetAnswer = { status: 'infrastructure_error', error: 'The execution broke off without an answer.' };

const tryOf = ({ key, asset, inputHash }: Candidate): string => `${key} ${asset.effectiveVersion} ${inputHash}`;
