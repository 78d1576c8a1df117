import {
  type AssetKind,
  type ExecutionRecord,
  type ExecutionStatus,
  type SettledNotification,
  type UntriggeredReason,
} from '@decision/contracts';
import { type BoundAsset } from '../assets/bound-asset';
import { type ContextModel } from '../definitions/context-model';
import { type DerivationSources } from '../derived/derive-facts';
import { type Facts } from '../facts/facts';
import { type Collections } from '../instances/check-record';

/** The last run of each asset that ever ran, by {@link assetKey}. */
export type Executions = Readonly<Record<string, ExecutionRecord>>;

/** An instance that is to be settled, with all that decides how. */
export interface SettleTask {
  readonly model: ContextModel;
  readonly assets: readonly BoundAsset[];
  /** Stored facts of the instance. */
  readonly facts: Facts;
  readonly executions: Executions;
  /** History here holds what is committed; what the settling changes is added to it (C43). */
  readonly sources: DerivationSources;
  /** Keys of the only assets that are considered (C72). Default: all. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Key of an asset that runs once even where nothing changed (C73). */
  readonly forced?: string | undefined;
  /** Keys of assets that this work is part of (C68). */
  readonly ancestors?: ReadonlySet<string> | undefined;
}

/** Answer of an executor to one run. */
export type AssetAnswer =
  | {
      readonly status: 'success';
      readonly outputs: Facts;
      readonly executionId?: string | undefined;
      /** What is to be sent if the outputs are written. */
      readonly notifications?: readonly SettledNotification[] | undefined;
    }
  | {
      readonly status: 'evaluation_error' | 'infrastructure_error';
      readonly error: string;
      readonly executionId?: string | undefined;
    }
  /** Nothing can be run at all at the moment (C71). */
  | { readonly status: 'unavailable'; readonly error: string };

/** An instance while its assets run. */
export interface SettlingInstance {
  /** Facts and derived facts as they are now. */
  state(): Facts;
  /**
   * Merges facts at once, as a submission would (C78); what becomes due runs in the next round. Answers a sentence about what does not fit, and
   * undefined where the facts were merged.
   */
  join(facts: Facts): string | undefined;
}

export interface SettlePorts {
  /** `successes` is how often the asset has succeeded for this instance before, in this settling and in those before it. */
  execute(asset: BoundAsset, inputs: Facts, successes: number, settling: SettlingInstance): Promise<AssetAnswer>;
  /** A short text that is another for every other text. */
  readonly hash: (text: string) => string;
  /** Whether the time of this work is over. */
  readonly isOver: () => boolean;
  /** Whether what is kept of runs takes all the memory that it may: then no asset runs again that had a success in this settling. */
  readonly isFull: () => boolean;
  /** Memory of tried states that this settling shares with all others of the process; absent if no run can succeed. */
  readonly tried?: TriedMemory;
  /** Is awaited between rounds, which are as many as it takes: lets other work of the process go on where it is time to. */
  readonly pause: () => Promise<void>;
  /** Receives what `execute` threw; the run itself says only that there was no answer (C74). */
  readonly onFault: (asset: BoundAsset, error: unknown) => void;
  readonly collections: Collections;
}

/** Outcome of one asset in a settling. */
export interface AssetRun {
  readonly type: AssetKind;
  readonly slug: string;
  readonly status: ExecutionStatus;
  /** Whether the executor was not there at all; it does not count as run then. */
  readonly unavailable?: boolean;
  readonly error?: string;
  /** Name of the run among decisions; absent where nothing was evaluated. */
  readonly executionId?: string;
  /** Answer of the asset, after a success. */
  readonly result?: Facts;
  /** Names of the facts that were written, after a success. */
  readonly written?: readonly string[];
  /** Names of facts that were cleared after a success, since the asset owned them and did not answer them again (C66). Absent: none. */
  readonly cleared?: readonly string[];
}

/** Why a settling ended (C67). */
export const settleEnds = ['fixpoint', 'repeated_state', 'memory_bound', 'deadline'] as const;
export type SettleEnd = (typeof settleEnds)[number];

export interface Settled {
  readonly facts: Facts;
  readonly executions: Executions;
  readonly runs: readonly AssetRun[];
  readonly ended: SettleEnd;
  /** Keys of assets that were due when it ended without a fixpoint. */
  readonly unfinished: readonly string[];
  /** Why assets could not be run at all; undefined where they could. */
  readonly degraded: string | undefined;
  /** Whether any asset that was considered had what it needs. */
  readonly anyReady: boolean;
  /** Rounds in which assets ran. Undefined: a worker of a release that does not count them settled. */
  readonly rounds?: number | undefined;
  /** What its runs that were written ask to be sent, in their order; undefined where that is nothing. */
  readonly notifications?: readonly SettledNotification[] | undefined;
}

/**
 * Counts the memory of what settlings have tried, for all of a process together: each is bounded by itself, but many can be under way at once. Who takes
 * part says when what it took is free again.
 */
export class TriedMemory {
  private taken = 0;

  /** @param limit Bytes that all of them together may take. */
  constructor(private readonly limit: number) {}

  get isFull(): boolean {
    return this.taken >= this.limit;
  }

  get takenBytes(): number {
    return this.taken;
  }

  take(bytes: number): void {
    this.taken += bytes;
  }

  free(bytes: number): void {
    this.taken -= bytes;
  }
}

/** Circumstances of a settling that decide about its outcome. */
interface OutcomeSurroundings {
  readonly hasAssets: boolean;
  readonly autoExecute: boolean;
  /** Whether a registered evaluation was considered. */
  readonly hasRegistered: boolean;
}

export type Outcome = { readonly triggered: true } | { readonly triggered: false; readonly reason: UntriggeredReason };

/** Whether an asset ran, whatever came of it (C80). */
export const hasRun = ({ status, unavailable = false }: AssetRun): boolean =>
  !unavailable && (status === 'success' || status === 'evaluation_error' || status === 'infrastructure_error');

/** Whether a submission triggered anything, and if not, why (C81): the first reason that holds. */
export const outcomeOf = ({ runs, anyReady }: Settled, surroundings: OutcomeSurroundings): Outcome => {
  if (runs.some(hasRun)) return { triggered: true };
  return { triggered: false, reason: reasonOf(runs, anyReady, surroundings) };
};

const reasonOf = (
  runs: readonly AssetRun[],
  anyReady: boolean,
  { hasAssets, autoExecute, hasRegistered }: OutcomeSurroundings,
): UntriggeredReason => {
  if (!hasAssets) return 'no_bound_assets';
  if (!autoExecute && !hasRegistered) return 'auto_execute_disabled';
  if (runs.some(({ unavailable }) => unavailable === true)) return 'execution_unavailable';
  if (runs.some(({ status }) => status === 'skipped_in_progress')) return 'execution_in_progress';
  return anyReady ? 'inputs_unchanged' : 'not_ready';
};
