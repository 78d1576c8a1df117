import { type RuleRow } from '@decision/contracts';

/** A row of one table and the row of another that it became, by index. */
export interface RowMatch {
  readonly from: number;
  readonly to: number;
}

/** Rows that are alike, in order, and the first that is not yet recognised. */
interface Queue {
  readonly entries: number[];
  next: number;
}

interface RowMatching {
  /** In the order of `from`. */
  readonly pairs: readonly RowMatch[];
  /** Indexes of rows of `to` that are new. */
  readonly added: readonly number[];
  /** Indexes of rows of `from` that are gone. */
  readonly removed: readonly number[];
}

/**
 * Recognises the rows of a table in another: by their `id`, then by their content, then by their place: what is left between two rows that
 * are recognised as neighbours on both sides is paired in order. Takes time in proportion to the rows.
 */
export const matchRows = (from: readonly RuleRow[], to: readonly RuleRow[]): RowMatching => {
  const partners = new Map<number, number>();
  const taken = new Set<number>();
  const match = (keyOf: (row: RuleRow) => string | undefined): void => {
    const waiting = new Map<string, Queue>();
    to.forEach((row, index) => {
      const key = taken.has(index) ? undefined : keyOf(row);
      if (key === undefined) return;
      const queue = waiting.get(key);
      if (queue === undefined) waiting.set(key, { entries: [index], next: 0 });
      else queue.entries.push(index);
    });
    from.forEach((row, index) => {
      const key = partners.has(index) ? undefined : keyOf(row);
      const queue = key === undefined ? undefined : waiting.get(key);
      const partner = queue?.entries[queue.next];
      if (queue === undefined || partner === undefined) return;
      queue.next += 1;
      partners.set(index, partner);
      taken.add(partner);
    });
  };
  match(({ id }) => id);
  match(contentOf);
  matchByPlace(from.length, to.length, partners, taken);
  return {
    pairs: [...partners].map(([index, partner]) => ({ from: index, to: partner })).sort((a, b) => a.from - b.from),
    added: to.flatMap((_, index) => (taken.has(index) ? [] : [index])),
    removed: from.flatMap((_, index) => (partners.has(index) ? [] : [index])),
  };
};

/** Rows that are left on both sides after a recognised row, or at the start, are paired one by one. */
const matchByPlace = (
  fromLength: number,
  toLength: number,
  partners: Map<number, number>,
  taken: Set<number>,
): void => {
  let next = 0;
  for (let index = 0; index < fromLength; index += 1) {
    const partner = partners.get(index);
    if (partner !== undefined) next = partner + 1;
    else if (next < toLength && !taken.has(next)) {
      partners.set(index, next);
      taken.add(next);
      next += 1;
    }
  }
};

const contentOf = ({ request, response, settings }: RuleRow): string =>
  JSON.stringify([sorted(request), sorted(response), sorted(settings)]);

/** Entries by name: the order in which a document gives them says nothing. */
const sorted = (record: Readonly<Record<string, unknown>> | undefined): unknown =>
  Object.entries(record ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
