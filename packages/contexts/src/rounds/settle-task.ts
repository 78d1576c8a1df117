import { type ExecutionRecord, type ExecutionStatus, type AssetType } from '@decision/contracts';
import { type BoundAsset } from '../assets/bound-asset';
import { type ContextModel } from '../definitions/context-model';
import { type DerivationSources } from '../derived/derive-facts';
import { type Collections } from '../instances/check-record';
import { type Facts } from '../facts/facts';
import { type TriedMemory } from './tried-memory';

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
  | { readonly status: 'success'; readonly outputs: Facts }
  | { readonly status: 'evaluation_error' | 'infrastructure_error'; readonly error: string }
  /** Nothing can be run at all at the moment (C71). */
  | { readonly status: 'unavailable'; readonly error: string };

export interface SettlePorts {
  execute(asset: BoundAsset, inputs: Facts): Promise<AssetAnswer>;
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
  /** Is told what `execute` threw: the run says no more than that there was no answer (C74). */
  readonly onFault: (asset: BoundAsset, error: unknown) => void;
  readonly collections: Collections;
}

/** Outcome of one asset in a settling. */
export interface AssetRun {
  readonly type: AssetType;
  readonly slug: string;
  readonly status: ExecutionStatus;
  /** Whether the executor was not there at all; it does not count as run then. */
  readonly unavailable?: boolean;
  readonly error?: string;
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
}
