import { type RuleTable } from '@decision/contracts';
import { pick, randomFrom, times } from './engine/random';

/** One row: its condition on each column and its answer. */
export interface PriceRow {
  readonly region: string;
  readonly from: number;
  readonly to: number;
  readonly level: number;
  readonly express: boolean;
  readonly price: number;
}

interface PriceRequest {
  readonly region: string;
  readonly weight: number;
  readonly level: number;
  readonly express: boolean;
}

/** Rows of four conditions each: a text, a range, a minimum, a boolean. Every engine of decision tables supports them. */
export const makeRows = (count: number, seed = 7): readonly PriceRow[] => {
  const random = randomFrom(seed);
  const regions = Math.max(2, Math.ceil(count / 10));
  return times(count, (index) => {
    const from = Math.floor(random() * 50);
    return {
      region: `region-${Math.floor(random() * regions)}`,
      from,
      to: from + 20 + Math.floor(random() * 30),
      level: Math.floor(random() * 3),
      express: random() < 0.5,
      price: index + 1,
    };
  });
};

/** Requests that each match some row, perhaps one before the row from which they were made. */
export const makeRequests = (rows: readonly PriceRow[], count: number, seed = 11): readonly PriceRequest[] => {
  const random = randomFrom(seed);
  return times(count, () => {
    const { region, from, to, level, express } = pick(random, rows);
    return { region, weight: Math.floor((from + to) / 2), level: level + 1, express };
  });
};

/** The rows as a decision table of this service. */
export const toRuleTable = (rows: readonly PriceRow[]): RuleTable => ({
  requestSchema: [
    { key: 'region', type: 'string' },
    { key: 'weight', type: 'number' },
    { key: 'level', type: 'number' },
    { key: 'express', type: 'boolean' },
  ],
  responseSchema: [{ key: 'price', type: 'number' }],
  conditions: rows.map(({ region, from, to, level, express, price }) => ({
    request: {
      region: { op: 'equals', args: [region] },
      weight: { op: 'between', args: [from, to] },
      level: { op: 'greater than or equal to', args: [level] },
      express: { op: express ? 'is true' : 'is false', args: [] },
    },
    response: { price: { value: price } },
  })),
});
