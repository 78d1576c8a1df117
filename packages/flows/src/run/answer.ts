import { answerFault, type FieldPath } from '@decision/engine';
import { isMissing, isPlainObject } from '@decision/values';
import { type ResultPlan } from '../plan';
import { type Activation, compareOrder } from './frame';
import { FlowFault } from './outcome';
import { writeMember } from './values';

/** The answer of a flow: what its results gave, in the order of the document (FL-60, FL-61), or what the exit says (FL-62). */
export const answerOf = (activation: Activation): Readonly<Record<string, unknown>> => {
  const { plan, given, exit } = activation;
  let answer: Readonly<Record<string, unknown>> = {};
  if (exit === undefined) {
    plan.results.forEach((result, index) => {
      const parts = given[index] ?? [];
      if (result.isInLoop) answer = merged(answer, listPart(result, parts));
      else for (const { members } of parts) answer = merged(answer, keyed(result, members));
    });
  } else {
    const result = plan.results[exit.what];
    const members = given[exit.what]?.find(({ order }) => compareOrder(order, exit.order) === 0)?.members ?? {};
    if (result !== undefined) answer = result.exitData ?? keyed(result, members);
  }
  const fault = answerFault(Object.values(answer));
  if (fault !== undefined) throw new FlowFault(`The answer of the flow ${fault}.`, { reason: 'answer_too_large' });
  return answer;
};

/** The members of a result by their keys in the answer. */
export const membersOf = (
  paths: readonly FieldPath[],
  values: readonly unknown[],
): Readonly<Record<string, unknown>> => {
  const members: Record<string, unknown> = {};
  for (let position = 0; position < paths.length; position += 1) {
    const value = values[position];
    const path = paths[position];
    if (!isMissing(value) && path !== undefined) writeMember(members, path, value);
  }
  return members;
};

const keyed = ({ key }: ResultPlan, members: unknown): Readonly<Record<string, unknown>> => {
  if (key === undefined) return members as Readonly<Record<string, unknown>>; // made by membersOf
  const answer: Record<string, unknown> = {};
  writeMember(answer, key, members);
  return answer;
};

/** FL-48: the answers of items in their order, whichever ended first. */
const listPart = (result: ResultPlan, parts: Activation['given'][number]): Readonly<Record<string, unknown>> => {
  const inOrder = [...parts].sort((a, b) => compareOrder(a.order, b.order));
  return keyed(
    result,
    inOrder.map(({ members }) => members),
  );
};

/** Both objects in one; objects under the same key are merged, and of anything else the second wins. Neither is changed. */
const merged = (
  first: Readonly<Record<string, unknown>>,
  second: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => {
  if (isEmpty(first)) return second;
  const entries = new Map(Object.entries(first));
  for (const [key, value] of Object.entries(second)) {
    const known = entries.get(key);
    entries.set(key, isPlainObject(known) && isPlainObject(value) ? merged(known, value) : value);
  }
  return Object.fromEntries(entries);
};

const isEmpty = (object: Readonly<Record<string, unknown>>): boolean => {
  for (const key in object) if (Object.hasOwn(object, key)) return false;
  return true;
};
