import { type Operation, type Outcome } from './history';
import { explainHistory } from './explain-history';

const decide = ({ a, b }: Readonly<Record<string, number>>): number | null =>
  a === undefined || b === undefined ? null : a * 1_000 + b;
const seen = (facts: Record<string, number>, decided: number | null = decide(facts), settled = true): Outcome => ({
  type: 'seen',
  seen: { facts, decided },
  settled,
});
/** An operation from `from` to `to`; times of a history count up from 1. */
const operation = (
  name: string,
  [begunAt, endedAt]: readonly [number, number],
  writes: Record<string, number> | undefined,
  outcome: Outcome,
): Operation => ({ name, begunAt, endedAt, writes, outcome });
const verdict = (operations: readonly Operation[], orders: Record<string, readonly number[]> = {}) => {
  const found = explainHistory({ operations, orders }, decide);
  return found.type === 'serial' ? found.order.map(({ name }) => name).join(' ') : found.type;
};
const NOT = 'not_serial';
const w1 = operation('w1', [1, 2], { a: 1, b: 1 }, seen({ a: 1, b: 1 }));

describe('serial histories', () => {
  it('nothing at all', () => {
    expect(verdict([])).toBe('');
  });

  it('overlapping operations whose answers tell the order', () => {
    const late = operation('late', [1, 10], { a: 2 }, seen({ a: 2, b: 1 }));
    const between = operation('between', [3, 9], { b: 2 }, seen({ a: 2, b: 2 }));
    expect(verdict([between, late, w1])).toBe('w1 late between');
  });

  it('a read between the merge and the write-back, but not after the answer', () => {
    const write = operation('write', [3, 6], { a: 2 }, seen({ a: 2, b: 1 }));
    const stale = (from: number) => operation('read', [from, from + 2], undefined, seen({ a: 2, b: 1 }, 1_001));
    expect(verdict([w1, write, stale(4)])).toBe('w1 write read');
    expect(verdict([w1, write, stale(7)])).toBe(NOT);
  });

  it('no decision that goes back once it was seen', () => {
    const write = operation('write', [3, 9], { a: 2 }, seen({ a: 2, b: 1 }));
    const fresh = operation('fresh', [4, 5], undefined, seen({ a: 2, b: 1 }));
    const stale = operation('stale', [6, 7], undefined, seen({ a: 2, b: 1 }, 1_001));
    expect(verdict([w1, write, fresh, stale])).toBe(NOT);
  });

  it('an unknown outcome that happened late, or never', () => {
    const lost = operation('lost', [1, 2], { a: 9 }, { type: 'unknown' });
    const before = operation('before', [5, 6], undefined, seen({ a: 1, b: 1 }));
    const after = operation('after', [7, 8], undefined, seen({ a: 9, b: 1 }));
    expect(verdict([w1, lost, before, after])).toBe('w1 before lost after');
    expect(verdict([w1, lost, before])).toBe('w1 before');
    expect(verdict([w1, after, { ...lost, begunAt: 9, endedAt: 10 }])).toBe(NOT);
  });

  it('a committed merge whose decision nobody was told: the old one may stand until somebody settles', () => {
    const cut = operation('cut', [3, 4], { a: 2 }, { type: 'committed' });
    const stale = operation('stale', [5, 6], undefined, seen({ a: 2, b: 1 }, 1_001));
    const settling = operation('settling', [7, 8], { c: 1 }, seen({ a: 2, b: 1, c: 1 }));
    expect(verdict([w1, cut, stale, settling])).toBe('w1 cut stale settling');
    expect(verdict([w1, cut, operation('blind', [5, 6], undefined, seen({ a: 1, b: 1 }))])).toBe(NOT);
  });

  it('an answer that says that not all has run', () => {
    const degraded = operation('degraded', [3, 4], { a: 2 }, seen({ a: 2, b: 1 }, 1_001, false));
    expect(verdict([w1, degraded])).toBe('w1 degraded');
    expect(verdict([w1, { ...degraded, outcome: seen({ a: 2, b: 1 }, 1_001, true) }])).toBe(NOT);
  });
});

describe('an answer that shows the decision, though something else in it was not settled', () => {
  const batch = operation('batch', [3, 6], { a: 2 }, seen({ a: 2, b: 1 }, decide({ a: 2, b: 1 }), false));
  const stale = (from: number) => operation('stale', [from, from + 1], undefined, seen({ a: 2, b: 1 }, 1_001));
  const fresh = operation('fresh', [4, 5], undefined, seen({ a: 2, b: 1 }));

  it('had not ended for a read that overlaps it: the merge may be seen without the decision', () => {
    expect(verdict([w1, batch, stale(4)])).toBe('w1 batch stale');
    expect(verdict([w1, batch, { ...stale(5), endedAt: 9 }])).toBe('w1 batch stale');
  });

  it('stands for every read that begins after it, and for the next submission', () => {
    expect(verdict([w1, batch, stale(7)])).toBe(NOT);
    expect(verdict([w1, batch, operation('next', [7, 8], { c: 1 }, seen({ a: 2, b: 1, c: 1 }, 1_001, false))])).toBe(
      NOT,
    );
  });

  it('is not taken back: nobody sees the old decision after somebody saw the new one', () => {
    expect(verdict([w1, batch, fresh, { ...stale(5.5), endedAt: 9 }])).toBe(NOT);
  });

  it('is not one that nothing explains', () => {
    const other = operation('other', [4, 5], undefined, seen({ a: 2, b: 1 }, 7));
    expect(verdict([w1, batch, other])).toBe(NOT);
  });
});

describe('broken histories', () => {
  it('a lost update', () => {
    const w2 = operation('w2', [3, 4], { a: 2 }, seen({ a: 2, b: 1 }));
    const w3 = operation('w3', [3, 4], { b: 2 }, seen({ a: 1, b: 2 }));
    expect(verdict([w1, w2, w3])).toBe(NOT);
    expect(verdict([w1, w2, operation('read', [5, 6], undefined, seen({ a: 1, b: 1 }))])).toBe(NOT);
  });

  it('a stale read', () => {
    const w2 = operation('w2', [3, 4], { a: 2 }, seen({ a: 2, b: 1 }));
    const read = (from: number) => operation('read', [from, 7], undefined, seen({ a: 1, b: 1 }));
    expect(verdict([w1, w2, read(5)])).toBe(NOT);
    expect(verdict([w1, w2, read(4)])).toBe('w1 read w2'); // it overlaps
  });

  it('an operation that is executed twice', () => {
    const w2 = operation('w2', [3, 4], { a: 2 }, seen({ a: 2, b: 1 }));
    const w3 = operation('w3', [5, 6], { a: 3 }, seen({ a: 3, b: 1 }));
    const again = operation('read', [7, 8], undefined, seen({ a: 2, b: 1 }));
    expect(verdict([w1, w2, w3])).toBe('w1 w2 w3');
    expect(verdict([w1, w2, w3, again])).toBe(NOT);
    expect(verdict([w1, w2, w3], { a: [1, 2, 3, 2] })).toBe(NOT);
    expect(verdict([w1, w2, w3], { a: [1, 2, 3] })).toBe('w1 w2 w3');
  });

  it('an acknowledged write that the kept history does not have, or has elsewhere', () => {
    const w2 = operation('w2', [3, 4], { a: 2 }, { type: 'committed' });
    const w3 = operation('w3', [3, 4], { a: 3 }, { type: 'committed' });
    expect(verdict([w1, w2, w3], { a: [1, 3, 2] })).toBe('w1 w3 w2');
    expect(verdict([w1, w2, w3], { a: [1, 3] })).toBe(NOT);
    expect(verdict([w1, w2, { ...w3, begunAt: 5, endedAt: 6 }], { a: [1, 3, 2] })).toBe(NOT);
  });

  it('a refused operation that happened, and a value that nobody wrote', () => {
    const refused = operation('refused', [3, 4], { a: 2 }, { type: 'refused' });
    expect(verdict([w1, refused])).toBe('w1');
    expect(verdict([w1, refused, operation('read', [5, 6], undefined, seen({ a: 2, b: 1 }))])).toBe(NOT);
  });

  it('a decision that belongs to other facts', () => {
    expect(verdict([{ ...w1, outcome: seen({ a: 1, b: 1 }, 1_002) }])).toBe(NOT);
  });

  it('is told with how far an order came, and what could not follow', () => {
    const found = explainHistory(
      { operations: [w1, operation('read', [3, 4], undefined, seen({ a: 7, b: 1 }))], orders: {} },
      decide,
    );
    expect(found).toMatchObject({ type: NOT, longest: [{ name: 'w1' }], next: [{ name: 'read' }] });
  });
});

it('says so if it gives up', () => {
  expect(explainHistory({ operations: [w1], orders: {} }, decide, 1)).toEqual({ type: 'undecided', steps: 1 });
});
