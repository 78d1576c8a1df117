import { type ContextModel } from '../definitions/context-model';
import { checkRecord, type Collections, isRecord, type Mismatch } from '../facts/check-record';
import { kindOfValue } from '../facts/fact-type';
import { type Facts, valueOf } from '../facts/facts';
import { readIdentity } from '../instances/instance-id';

/** What a batch gives one instance: its records, folded in their order (C92). */
export interface GivenInstance {
  readonly instanceId: string;
  /** Positions of its records in the batch. */
  readonly positions: readonly number[];
  readonly facts: Facts;
}

/** A record that cannot be merged (C90). */
export interface Rejection {
  readonly position: number;
  readonly error: string;
}

export interface GroupedRecords {
  /** In the order in which the batch first names them (C91). */
  readonly instances: readonly GivenInstance[];
  readonly rejections: readonly Rejection[];
}

/** Stands in the place of a record that could not even be read. */
export class UnreadableRecord {
  /** `error` is the sentence with which it is rejected. */
  constructor(readonly error: string) {}
}

/** Mismatches of one record that its rejection tells. */
const TOLD_MISMATCHES = 5;

/** Makes instances of records. `firstPosition` is the position of the first of them in the whole batch. */
export const groupRecords = (
  model: ContextModel,
  records: readonly unknown[],
  collections: Collections,
  firstPosition = 0,
): GroupedRecords => {
  const instances = new Map<string, { readonly positions: number[]; readonly facts: Map<string, unknown> }>();
  const rejections: Rejection[] = [];
  records.forEach((record, index) => {
    const position = firstPosition + index;
    const read = readRecord(model, record, collections);
    if ('error' in read) {
      rejections.push({ position, error: read.error });
      return;
    }
    const given = instances.get(read.instanceId) ?? { positions: [], facts: new Map<string, unknown>() };
    given.positions.push(position);
    for (const [fact, value] of Object.entries(read.facts)) given.facts.set(fact, value);
    instances.set(read.instanceId, given);
  });
  return {
    instances: [...instances].map(([instanceId, { positions, facts }]) => ({
      instanceId,
      positions,
      facts: Object.fromEntries(facts),
    })),
    rejections,
  };
};

type RecordReading = { readonly instanceId: string; readonly facts: Facts } | { readonly error: string };

const readRecord = (model: ContextModel, record: unknown, collections: Collections): RecordReading => {
  if (record instanceof UnreadableRecord) return record;
  if (!isRecord(record)) return { error: `The record must be an object of facts, not ${kindOfValue(record)}.` };
  const identity = readIdentity(model.identity, valueOf(record, model.identity.key));
  if (!identity.ok) return { error: `The record cannot be merged: ${identity.error}.` };
  const check = checkRecord(model, record, collections);
  if (!check.ok) return { error: sentenceOf(check.mismatches) };
  return { instanceId: identity.instanceId, facts: check.facts };
};

/** Mismatches as one text. */
export const sentenceOf = (mismatches: readonly Pick<Mismatch, 'error'>[]): string => {
  const told = mismatches.slice(0, TOLD_MISMATCHES).map(({ error }) => error);
  const more = mismatches.length - told.length;
  return [...told, ...(more > 0 ? [`${more} more facts do not fit.`] : [])].join(' ');
};
