import { type UntriggeredReason } from '@decision/contracts';
import { type AssetRun, type Settled } from './settle-task';

/** How a settling was begun, as far as its outcome is told by it. */
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
