import {
  assetKey,
  type BoundAsset,
  checkRecord,
  type Facts,
  hasRun,
  identityValueOf,
  isRecord,
  sameValue,
  valueOf,
} from '@decision/contexts';
import {
  type CascadeAnswer,
  ServiceError,
  type SolveInstanceAnswer,
  type SolveInstanceFlowAnswer,
  type SubmitAnswer,
} from '@decision/contracts';
import { cascadeChange } from '../cascades/cascade-changes';
import { refusedBy } from '../definitions/recall-context';
import { type InstancesContext, operate } from '../operations/operate';
import { lookUpMembers } from '../operations/surroundings';
import { type Work } from '../operations/work';
import {
  type CarriedOut,
  factsInvalid,
  type IgnoredFacts,
  instanceNotFound,
  type NamedInstance,
  nameOfInstance,
  toCascadeResult,
  endRemarks,
  ignoredRemarks,
  rejectionRemarks,
  toSubmitAnswer,
  withCommits,
} from './instance-answers';
import { waitsFor } from './read-instances';

/**
 * Merges facts into an instance, runs what is due and re-evaluates its readers. Throws `facts_invalid`, `overloaded`, `deadline_exceeded`,
 * `operation_interrupted`, `payload_too_large`.
 */
export const submitFacts = async (
  context: InstancesContext,
  named: NamedInstance,
  body: unknown,
): Promise<SubmitAnswer> => {
  const { facts, ...ignored } = await checkFacts(context, named, body);
  const carried = await carryOut(context, named, {
    given: [{ instanceId: named.instanceId, facts }],
    mode: 'submit',
  });
  return toSubmitAnswer(named.context.slug, { ...carried, ignored });
};

/** Evaluates only the registered evaluations of an instance. Throws `instance_not_found` and the errors of {@link submitFacts}. */
export const cascadeInstance = async (context: InstancesContext, named: NamedInstance): Promise<CascadeAnswer> => {
  const { outcome, readers } = await carryOut(context, named, {
    given: [{ instanceId: named.instanceId, facts: {} }],
    mode: 'registered',
  });
  const name = nameOfInstance(named.context.slug, named.instanceId);
  const cascaded = [...outcome.settled.runs.map((run) => toCascadeResult(name, run)), ...readers];
  return { context: name, cascaded, ...endRemarks(outcome.settled) };
};

/** Common part of the answers to a manual solve of a rule or a flow. */
type SolvedAlike = Omit<SolveInstanceAnswer, 'rule'>;

/** A manual solve: the decision of the asset, or its registration if it waits for facts (C126). */
interface ManualSolve<Answer> {
  readonly status: 200 | 202;
  readonly answer: Answer;
}

/** Merges facts and runs one bound rule. Throws `rule_not_found` if it is not bound, and the errors of {@link submitFacts}. */
export const solveRuleOfInstance = async (
  context: InstancesContext,
  named: NamedInstance,
  slug: string,
  body: unknown,
): Promise<ManualSolve<SolveInstanceAnswer>> => {
  const { status, answer } = await solveInstance(context, named, { type: 'rule', slug }, body);
  return { status, answer: { rule: slug, ...answer } };
};

/** Merges facts and runs one bound flow. Throws `flow_not_found` if it is not bound, and the errors of {@link submitFacts}. */
export const solveFlowOfInstance = async (
  context: InstancesContext,
  named: NamedInstance,
  slug: string,
  body: unknown,
): Promise<ManualSolve<SolveInstanceFlowAnswer>> => {
  const { status, answer, executions } = await solveInstance(context, named, { type: 'flow', slug }, body);
  return { status, answer: { flow: slug, ...answer, ...(status === 200 ? { usage: { executions } } : {}) } };
};

const solveInstance = async (
  context: InstancesContext,
  named: NamedInstance,
  wanted: Pick<BoundAsset, 'type' | 'slug'>,
  body: unknown,
): Promise<ManualSolve<SolvedAlike> & { readonly executions: number }> => {
  const { slug, assets, view } = named.context;
  const key = assetKey(wanted);
  const asset = assets.find((bound) => assetKey(bound) === key);
  if (asset === undefined || !view.seesAsset(key)) throw refusedBy(named.context, notBound(slug, wanted));
  const { facts, ...ignored } = await checkFacts(context, named, body);
  const given = [{ instanceId: named.instanceId, facts }];
  const { outcome, readers } = await carryOut(context, named, { given, mode: 'submit', forced: key });
  const name = nameOfInstance(slug, named.instanceId);
  const own = outcome.settled.runs.find((run) => assetKey(run) === key);
  const others = outcome.settled.runs.filter((run) => run !== own);
  const cascaded = [...others.map((run) => toCascadeResult(name, run)), ...readers];
  const remarks = { ...rejectionRemarks(readers), ...ignoredRemarks(ignored), ...endRemarks(outcome.settled) };
  const executions = outcome.settled.runs.filter(hasRun).length;
  if (own === undefined) {
    const { have, need } = outcome.resolved;
    const waiting_on = waitsFor(named, asset, outcome.resolved.state, outcome.relatives);
    return {
      ...{ status: 202, executions },
      answer: {
        ...{ status: 'pending', context: name, have: [...have], need: [...need], waiting_on },
        ...{ expires_at: outcome.expiresAt, cascaded, ...remarks },
      },
    };
  }
  const { result, written, cleared, error, executionId } = own;
  const parts = { context: name, cascaded, ...(executionId && { execution_id: executionId }), ...remarks };
  if (own.status !== 'success')
    return {
      ...{ status: 200, executions },
      answer: { ...parts, status: 'error', error: error ?? `The ${wanted.type} was not run.` },
    };
  return {
    ...{ status: 200, executions },
    answer: {
      ...{ ...parts, status: 'solved', result: result ?? {}, written_to_context: [...(written ?? [])] },
      ...(cleared === undefined ? {} : { cleared: [...cleared] }),
    },
  };
};

const notBound = (context: string, { type, slug }: Pick<BoundAsset, 'type' | 'slug'>): ServiceError =>
  new ServiceError(
    type === 'rule' ? 'rule_not_found' : 'flow_not_found',
    `No published ${type} "${slug.slice(0, 200)}" is bound to the context "${context}".`,
    { context },
  );

const carryOut = async (
  context: InstancesContext,
  { context: definition, instanceId, origin }: NamedInstance,
  work: Pick<Work, 'given' | 'mode' | 'forced'>,
): Promise<Omit<CarriedOut, 'ignored'>> => {
  const { outcomes, failures, committed } = await operate(context.operate, { context: definition, origin, ...work });
  const failure = failures.get(instanceId);
  if (failure !== undefined) throw withCommits(failure, { committed });
  const outcome = outcomes.get(instanceId);
  if (outcome === undefined) throw instanceNotFound(definition.slug, instanceId);
  const readers = await cascadeChange(context, origin, outcome);
  return { outcome: definition.view.outcome(outcome), readers: definition.view.summaries(readers) };
};

/** The facts of a body that are merged, and those that are not. Throws `facts_invalid`. */
const checkFacts = async (
  { database }: InstancesContext,
  { context, instanceId, origin }: NamedInstance,
  body: unknown,
): Promise<IgnoredFacts & { readonly facts: Facts }> => {
  const { model } = context;
  const refuse = (...mismatches: Parameters<typeof factsInvalid>): Error =>
    refusedBy(context, factsInvalid(...mismatches));
  const record = isRecord(body) ? body : {};
  const { key } = model.identity;
  const identity = identityValueOf(model.identity, instanceId);
  if (identity === undefined) {
    throw refuse([
      {
        fact: key,
        error: `The path does not name an instance: the identity fact "${key}" is a ${model.identity.type} of at most 512 characters.`,
      },
    ]);
  }
  if (Object.hasOwn(record, key) && !sameValue(valueOf(record, key), identity)) {
    throw refuse([
      { fact: key, error: `The identity fact "${key}" of the body is not the instance that the path names.` },
    ]);
  }
  const check = checkRecord(model, record, await lookUpMembers(database, origin, context, [record]));
  if (!check.ok) throw refuse(check.mismatches, check.count);
  const { facts, ignored, ignoredCount } = check;
  return { facts, ignored, ignoredCount };
};
