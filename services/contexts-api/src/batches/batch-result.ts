import { type AssetRun, type GivenInstance } from '@decision/contexts';
import { type BatchInclude, type BatchResult, type ExecutedAsset } from '@decision/contracts';
import { toldOfEnd, toldOfIgnored } from '../instances/instance-answers';
import { type InstanceOutcome } from '../operations/work';

const executedOf = (run: AssetRun, fields: ReadonlySet<BatchInclude>): ExecutedAsset => ({
  ...{ type: run.type, slug: run.slug, status: run.status },
  ...(run.error === undefined ? {} : { error: run.error }),
  ...(run.written === undefined ? {} : { written_to_context: [...run.written] }),
  ...(run.cleared === undefined ? {} : { cleared: [...run.cleared] }),
  ...(run.result === undefined || !fields.has('execution_results') ? {} : { result: run.result }),
});

/** Source of each field of a result. `execution_results` is part of `executed`. */
const FIELDS: Readonly<
  Record<
    Exclude<BatchInclude, 'execution_results'>,
    (outcome: InstanceOutcome, positions: readonly number[], fields: ReadonlySet<BatchInclude>) => Partial<BatchResult>
  >
> = {
  positions: (_, positions) => ({ positions: [...positions] }),
  is_new: ({ isNew }) => ({ is_new: isNew }),
  status: ({ resolved }) => ({ status: resolved.status }),
  have: ({ resolved }) => ({ have: [...resolved.have] }),
  need: ({ resolved }) => ({ need: [...resolved.need] }),
  state: ({ resolved }) => ({ state: { ...resolved.state } }),
  expires_at: ({ expiresAt }) => ({ expires_at: expiresAt }),
  executions: ({ settled }) => ({ executions: { ...settled.executions } }),
  executed: ({ settled }, _, fields) => ({ executed: settled.runs.map((run) => executedOf(run, fields)) }),
  triggered: ({ outcome }) => ({ triggered: outcome.triggered }),
  reason: ({ outcome }) => (outcome.triggered ? {} : { reason: outcome.reason }),
};

/**
 * One entry of a batch's answer, with the fields that were asked for (C82). Raw results bring `executed` with them. What was ignored and what is
 * unfinished is told whether or not it was asked for.
 */
export const toBatchResult = (
  outcome: InstanceOutcome,
  given: Pick<GivenInstance, 'positions' | 'ignored' | 'ignoredCount'>,
  fields: ReadonlySet<BatchInclude>,
): BatchResult => {
  const names = Object.keys(FIELDS) as (keyof typeof FIELDS)[]; // the keys of a Record are its type's keys
  const wanted = names.filter(
    (field) => fields.has(field) || (field === 'executed' && fields.has('execution_results')),
  );
  return Object.assign(
    { instance_id: outcome.instanceId },
    ...wanted.map((field) => FIELDS[field](outcome, given.positions, fields)),
    toldOfIgnored(given),
    toldOfEnd(outcome.settled),
  ) as BatchResult; // the parts of one
};
