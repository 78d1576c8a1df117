import { type ContextModel } from '../definitions/context-model';
import { sameValue } from '../facts/canonical-json';
import { type Facts, valueOf } from '../facts/facts';

/** One committed value of a tracked fact. */
export interface HistoryEntry {
  /** Epoch ms. */
  readonly timestamp: number;
  readonly value: unknown;
}

/** Stored entries of a fact, newest first; none where nothing is stored. */
export type HistorySource = (fact: string) => readonly HistoryEntry[];

export const noHistory: HistorySource = () => [];

/**
 * The entries that a change of an instance adds (C100): one for each tracked fact whose value is another than before. Without a former state, for each
 * tracked fact that has a value.
 */
export const historyOfChange = (
  { facts }: Pick<ContextModel, 'facts'>,
  before: Facts,
  after: Facts,
  now: number,
): ReadonlyMap<string, HistoryEntry> => {
  const entries = new Map<string, HistoryEntry>();
  for (const { key, trackHistory } of facts.values()) {
    const value = valueOf(after, key);
    if (trackHistory && !sameValue(valueOf(before, key), value)) entries.set(key, { timestamp: now, value });
  }
  return entries;
};
