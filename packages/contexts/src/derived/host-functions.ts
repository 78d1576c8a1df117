import { FormulaFault, type HostFunction } from '@decision/expressions';
import { type HistoryEntry, type HistorySource } from './history';

const factOf = (values: readonly unknown[], name: string): string => {
  const [fact] = values;
  if (typeof fact === 'string') return fact;
  throw new FormulaFault('wrong_type', `${name} takes the name of a fact in quotes`);
};

const shown = ({ timestamp, value }: HistoryEntry): unknown => ({
  timestamp: new Date(timestamp).toISOString(),
  value,
});

/** `history('fact')` and `previous('fact')` over entries that already hold the change under way (C43). */
export const historyHost = (history: HistorySource): ReadonlyMap<string, HostFunction> =>
  new Map<string, HostFunction>([
    ['history', { minimum: 1, maximum: 1, call: (values) => history(factOf(values, 'history')).map(shown) }],
    ['previous', { minimum: 1, maximum: 1, call: (values) => history(factOf(values, 'previous'))[1]?.value ?? null }],
  ]);
