import { type Decide, type Facts, type History, type Operation } from './history';

/** An instance after some operations, in one of their orders. */
export interface InstanceModel {
  readonly facts: Facts;
  /** Decisions that may be stored: until a settling is written back, the previous one too. */
  readonly possible: readonly (number | null)[];
  /** The decision is visible to operations that start after this time; Infinity if no answer said so. */
  readonly settledBy: number;
  /** Number of values that each tracked fact has had. */
  readonly counts: Readonly<Record<string, number>>;
}

export const EMPTY_INSTANCE: InstanceModel = { facts: {}, possible: [null], settledBy: 0, counts: {} };

/** Rules that the order of operations must satisfy. */
export interface ModelRules {
  readonly decide: Decide;
  readonly orders: History['orders'];
}

/**
 * The instance after one more operation; undefined if the operation cannot have come next.
 *
 * A submission is merged at one moment and its due decisions are written back later, both before its answer. Nobody else writes between them, but
 * readers see the merge without the decision.
 */
export const afterOperation = (
  model: InstanceModel,
  operation: Operation,
  rules: ModelRules,
): InstanceModel | undefined =>
  operation.writes === undefined
    ? afterRead(model, operation, rules)
    : afterWrite(model, operation, operation.writes, rules);

const afterRead = (
  model: InstanceModel,
  { outcome, begunAt }: Operation,
  { decide }: ModelRules,
): InstanceModel | undefined => {
  if (outcome.type !== 'seen') return model;
  if (!sameFacts(outcome.seen.facts, model.facts)) return undefined;
  const { decided } = outcome.seen;
  const due = decide(model.facts);
  if (decided === due) return { ...model, possible: [due] };
  const mayBeOld = model.settledBy >= begunAt && model.possible.includes(decided);
  return mayBeOld ? { ...model, possible: [decided, due] } : undefined;
};

const afterWrite = (
  model: InstanceModel,
  { outcome, endedAt }: Operation,
  writes: Facts,
  { decide, orders }: ModelRules,
): InstanceModel | undefined => {
  const counts = countValues(model.counts, writes, orders);
  if (counts === undefined) return undefined;
  const facts = { ...model.facts, ...writes };
  const due = decide(facts);
  // A submission that was answered as settled was written back before anybody else could merge.
  const stored = model.settledBy === Infinity ? model.possible : [decide(model.facts)];
  const possible = [...new Set([...stored, due])];
  if (outcome.type !== 'seen') return { facts, possible, settledBy: Infinity, counts };
  const { seen, settled } = outcome;
  if (!sameFacts(seen.facts, facts)) return undefined;
  // A due decision is shown by the operation that wrote it back, even if the rest of the answer was not settled: it is stored by the end of the
  // answer, and readers that started earlier may still have seen the merge without it.
  if (seen.decided === due) return { facts, possible, settledBy: endedAt, counts };
  if (settled || !possible.includes(seen.decided)) return undefined;
  return { facts, possible: [seen.decided, due], settledBy: Infinity, counts };
};

/** Undefined if the service recorded the values of a tracked fact in another order. */
const countValues = (
  counts: InstanceModel['counts'],
  writes: Facts,
  orders: ModelRules['orders'],
): InstanceModel['counts'] | undefined => {
  const next = { ...counts };
  for (const [fact, value] of Object.entries(writes)) {
    const order = orders[fact];
    if (order === undefined) continue;
    const count = counts[fact] ?? 0;
    if (order[count] !== value) return undefined;
    next[fact] = count + 1;
  }
  return next;
};

const sameFacts = (one: Facts, other: Facts): boolean => {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
};
