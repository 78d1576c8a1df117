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

/** An instance to settle, with all inputs of the settling. */
export interface SettleTask {
  readonly model: ContextModel;
  readonly assets: readonly BoundAsset[];
  /** Stored facts of the instance. */
  readonly facts: Facts;
  /** Facts and derived facts of this instance, if they were computed already. */
  readonly state?: Facts | undefined;
  readonly executions: Executions;
  /** History here is the committed one; the settling adds its own changes to it (C43). */
  readonly sources: DerivationSources;
  /** Keys of the assets to consider (C72). Default: all. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Key of an asset that runs once even if nothing has changed (C73). */
  readonly forced?: string | undefined;
  /** Keys of the assets whose runs requested this work (C68). */
  readonly ancestors?: ReadonlySet<string> | undefined;
}

/** Answer of an executor to one run. */
export type AssetAnswer =
  | {
      readonly status: 'success';
      readonly outputs: Facts;
      readonly executionId?: string | undefined;
      /** Notifications to send if the outputs are written. */
      readonly notifications?: readonly SettledNotification[] | undefined;
    }
  | {
      readonly status: 'evaluation_error' | 'infrastructure_error';
      readonly error: string;
      readonly executionId?: string | undefined;
    }
  /** Nothing can be executed at the moment (C71). */
  | { readonly status: 'unavailable'; readonly error: string };

/** An instance while its assets run. */
export interface SettlingInstance {
  /** Current facts and derived facts. */
  state(): Facts;
  /**
   * Merges facts at once, as a submission would (C78, docs/adr/0042-a-write-to-the-own-instance-joins-its-operation.md); what becomes due
   * runs in the next round. Answers undefined if the facts were merged, and otherwise a sentence about the mismatch.
   */
  join(facts: Facts): string | undefined;
}

export interface SettlePorts {
  /** `successes` counts the earlier successes of the asset for this instance, in this and earlier settlings. */
  execute(
    asset: BoundAsset,
    inputs: Facts,
    successes: number,
    settling: SettlingInstance,
  ): Promise<AssetAnswer> | AssetAnswer;
  /** A short text that is unique for each text, such as a hash. */
  readonly hash: (text: string) => string;
  /** Whether the time of this work is over. */
  readonly isOver: () => boolean;
  /** Whether the memory for tried runs is used up. Then an asset that succeeded in this settling does not run again. */
  readonly isFull: () => boolean;
  /** Memory of tried states that this settling shares with all others of the process; absent if no run can succeed. */
  readonly tried?: TriedMemory;
  /** Called between rounds, whose number is unbounded; a promise, which is awaited, lets other work of the process run when due. */
  readonly pause: () => Promise<void> | undefined;
  /** Called with the error that `execute` threw; the run itself only says that there was no answer (C74). */
  readonly onFault: (asset: BoundAsset, error: unknown) => void;
  readonly collections: Collections;
}

/** Outcome of one asset in a settling. */
export interface AssetRun {
  readonly type: AssetKind;
  readonly slug: string;
  readonly status: ExecutionStatus;
  /** Whether no executor was available; then it does not count as a run. */
  readonly unavailable?: boolean;
  readonly error?: string;
  /** Id of the run among decisions; absent if nothing was evaluated. */
  readonly executionId?: string;
  /** Answer of the asset, after a success. */
  readonly result?: Facts;
  /** Names of the facts that were written, after a success. */
  readonly written?: readonly string[];
  /** Names of facts that a success cleared, since the asset owned them and did not answer them again (C66). Absent: none. */
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
  /** Why assets could not run at all; undefined if they could. */
  readonly degraded: string | undefined;
  /** Whether any considered asset was ready. */
  readonly anyReady: boolean;
  /** Rounds in which assets ran. Undefined: settled by a worker of a release that does not count them. */
  readonly rounds?: number | undefined;
  /** Notifications of the runs whose outputs were written, in order; undefined if there are none. */
  readonly notifications?: readonly SettledNotification[] | undefined;
}

/**
 * Counts the memory of tried runs over all settlings of a process: each settling has its own bound, but many can be under way at once. Each
 * settling releases what it took.
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

/** Circumstances of a settling that decide its outcome. */
interface OutcomeSurroundings {
  readonly hasAssets: boolean;
  readonly autoExecute: boolean;
  /** Whether a registered evaluation was considered. */
  readonly hasRegistered: boolean;
}

export type Outcome = { readonly triggered: true } | { readonly triggered: false; readonly reason: UntriggeredReason };

/** Whether an asset ran, successfully or not (C80). */
export const hasRun = ({ status, unavailable = false }: AssetRun): boolean =>
  !unavailable && (status === 'success' || status === 'evaluation_error' || status === 'infrastructure_error');

/** Whether a submission triggered anything, and if not, the first reason that applies (C81). */
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
