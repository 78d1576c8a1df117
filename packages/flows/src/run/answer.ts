import { answerFaultInPieces, type FieldPath } from '@decision/engine';
import { isMissing, isPlainObject } from '@decision/values';
import { type ResultPlan } from '../plan';
import { type Activation, compareOrder } from './frame';
import { FlowFault } from './outcome';
import { PIECE, type Pieces, sortInPieces } from './pieces';
import { writeMember } from './values';

/** Fast path: the answer of a flow with one result of a few numbers and short texts; undefined for others. */
export const briefAnswerOf = ({ plan, given, exit }: Activation): Readonly<Record<string, unknown>> | undefined => {
  const [result] = plan.results;
  const [parts] = given;
  if (exit !== undefined || plan.results.length !== 1 || result === undefined || result.isInLoop) return undefined;
  if (parts?.length !== 1) return undefined;
  const members = parts[0]?.members ?? {};
  return Object.values(members).every(isBrief) ? keyed(result, members) : undefined;
};

const isBrief = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value.length < PIECE);

/** The answer of a flow: the values of its results in document order (FL-60, FL-61), or those of the exit (FL-62). */
export function* answerOf(activation: Activation): Pieces<Readonly<Record<string, unknown>>> {
  const { plan, given, exit } = activation;
  let answer: Readonly<Record<string, unknown>> = {};
  if (exit === undefined) {
    for (const [index, result] of plan.results.entries()) {
      const parts = given[index] ?? [];
      if (result.isInLoop) answer = yield* merged(answer, yield* listPart(result, parts));
      else for (const { members } of parts) answer = yield* merged(answer, keyed(result, members));
    }
  } else {
    const result = plan.results[exit.what];
    const members = given[exit.what]?.find(({ order }) => compareOrder(order, exit.order) === 0)?.members ?? {};
    if (result !== undefined) answer = result.exitData ?? keyed(result, members);
  }
  const fault = yield* answerFaultInPieces(Object.values(answer));
  if (fault !== undefined) throw new FlowFault(`The answer of the flow ${fault}.`, { reason: 'answer_too_large' });
  return answer;
}

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

/** FL-48: the answers of items in order, whichever ended first. */
function* listPart(result: ResultPlan, parts: Activation['given'][number]): Pieces<Readonly<Record<string, unknown>>> {
  const list: Readonly<Record<string, unknown>>[] = [];
  for (const { members } of yield* sortInPieces(parts, (a, b) => compareOrder(a.order, b.order))) {
    list.push(members);
    if (list.length % PIECE === 0) yield;
  }
  return keyed(result, list);
}

/** Merges two objects: objects under the same key are merged, and otherwise the second value wins. Neither is changed. */
function* merged(
  first: Readonly<Record<string, unknown>>,
  second: Readonly<Record<string, unknown>>,
): Pieces<Readonly<Record<string, unknown>>> {
  if (isEmpty(first)) return second;
  const entries = new Map<string, unknown>();
  for (const key of Object.keys(first)) {
    entries.set(key, first[key]);
    if (entries.size % PIECE === 0) yield;
  }
  let count = 0;
  for (const key of Object.keys(second)) {
    const [known, value] = [entries.get(key), second[key]];
    entries.set(key, isPlainObject(known) && isPlainObject(value) ? yield* merged(known, value) : value);
    count += 1;
    if (count % PIECE === 0) yield;
  }
  return Object.fromEntries(entries);
}

const isEmpty = (object: Readonly<Record<string, unknown>>): boolean => {
  for (const key in object) if (Object.hasOwn(object, key)) return false;
  return true;
};
