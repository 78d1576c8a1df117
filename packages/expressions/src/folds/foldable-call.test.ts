import { compileFormula } from '../compile/compile-formula';
import { runFormula } from '../run/run';
import { parseFormula } from '../syntax/parser';
import { type FoldableCall, foldableCall } from './foldable-call';

const parse = (text: string) => {
  const parsing = parseFormula(text);
  if (!parsing.ok) throw new Error(parsing.problem.message);
  return parsing.formula;
};
const foldable = (text: string): FoldableCall | undefined => {
  const formula = parse(text);
  return foldableCall(formula, formula.root);
};
const NOW = Date.UTC(2026, 0, 15);
const whole = (text: string, items: readonly unknown[]) =>
  runFormula(compileFormula(parse(text)), { now: NOW, lookup: () => items });
const inPieces = (text: string, items: readonly unknown[], sizes: () => number) => {
  const fold = foldable(text)?.begin(NOW);
  for (let from = 0; from < items.length;) {
    const size = sizes();
    fold?.add(items.slice(from, from + size));
    from += size;
  }
  return fold?.outcome();
};

/** A reproducible sequence of numbers in [0, 1). */
const randomFrom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const CALLS = [
  ...['sum', 'avg', 'average', 'min', 'max'].flatMap((name) => [
    `${name}($orders, 'total')`,
    `${name}($orders, o => o.total)`,
    `${name}($relations.orders, 'total * 3 - quantity')`,
    `${name}(map($orders, 'total'))`,
    `${name}(filter($orders, o => o.state == 'open'), 'total')`,
    `${name}(list($orders, 'state'))`,
    `${name}(map(filter($orders, 'quantity > 2'), x => x.quantity), y => y / 7)`,
    `${name}($orders)`,
    `${name}($orders, 'lines.length')`,
  ]),
  'count($orders)',
  'length($orders)',
  "count($orders, 'total')",
  'count($orders, o => o.total > 3)',
  "count(filter($orders, 'quantity >= 2'))",
  'any($orders, o => o.quantity > 8)',
  "all($orders, 'quantity < 9')",
  'any($orders, o => days_between(o.at, now()) > 10)',
];

it('F89: in pieces, an aggregate answers exactly what it answers for the whole list, or fails likewise', () => {
  const random = randomFrom(7);
  const pick = <Value>(values: readonly Value[]): Value | undefined => values[Math.floor(random() * values.length)];
  const numbers = [0, 0.1, 0.2, 0.3, 1e16, -1e16, 1, -1, 1e308, 7.5, 5e-324, 123_456_789.123];
  const odd = [null, null, undefined, 'text', '\u{1F600}', '\uFFFD', true, [1], { a: 1 }, ''];
  const seen = { ok: 0, failed: 0 };
  for (let run = 0; run < 4_000; run += 1) {
    const oddity = pick([0, 0, 0.02, 0.3]) ?? 0;
    const value = (): unknown => (random() < oddity ? pick(odd) : pick(numbers));
    const items = Array.from({ length: Math.floor(random() * 30) }, () => ({
      ...(random() < 0.9 ? { total: value() } : {}),
      quantity: Math.floor(random() * 10),
      state: pick(['open', 'closed', null]),
      lines: pick([[], [1, 2], 'abc']),
      at: '2026-01-01',
    }));
    const text = pick(CALLS) ?? '';
    const expected = whole(text, items);
    const found = inPieces(text, items, () => 1 + Math.floor(random() * 8));
    seen[expected.ok ? 'ok' : 'failed'] += 1;
    expect({ text, items, ok: found?.ok, value: found?.ok === true ? found.value : undefined }).toEqual({
      ...{ text, items, ok: expected.ok, value: expected.ok ? expected.value : undefined },
    });
  }
  expect(seen.ok).toBeGreaterThan(1_000);
  expect(seen.failed).toBeGreaterThan(500);
});

it('F89: a fault names the position of the element in the whole list', () => {
  const items = [1, 2, 3, 'x', 5].map((total) => ({ total }));
  const found = inPieces("sum($orders, 'total')", items, () => 2);
  expect(found).toEqual(whole("sum($orders, 'total')", items));
  expect(found).toMatchObject({ ok: false, problem: { code: 'wrong_type', position: 0 } });
});

it('F89: it has no maximum list length, and reads nothing more once the answer is certain', () => {
  const fold = foldable('sum($orders, o => o.total * 2)')?.begin(NOW);
  const piece = Array.from({ length: 1_000 }, (_, index) => ({ total: index }));
  for (let pieces = 0; pieces < 300; pieces += 1) fold?.add(piece);
  expect(fold?.outcome()).toEqual({ ok: true, value: 300 * 999 * 1_000 });
  const any = foldable('any($orders, o => o.total == 3)')?.begin(NOW);
  any?.add(piece);
  expect(any?.isOver).toBe(true);
  any?.add([{ total: null }, 'what would be at fault']);
  expect(any?.outcome()).toEqual({ ok: true, value: true });
});

it('F89: an element that takes too many steps fails, as in a formula', () => {
  const heavy = `sum($orders, o => sum([${Array.from({ length: 400 }, () => 'o.total').join(', ')}]))`;
  const fold = foldable(heavy)?.begin(NOW);
  fold?.add(Array.from({ length: 1_000 }, () => ({ total: 1 })));
  expect(fold?.outcome()).toMatchObject({ ok: false, problem: { code: 'steps_exhausted' } });
});

it.each([
  'sum([1, 2])',
  'sum(orders)',
  'sum(1, $orders)',
  "sum($orders, 'total', 1)",
  'sum($orders, o => o.total + tax)',
  'sum($orders, o => o.total + $rates)',
  "sum($orders, 'total + $rates')",
  'sum($orders, o => $price(o))',
  "sum($orders, o => previous('total'))",
  "sum(sort($orders), 'total')",
  "sum(slice($orders, 1), 'total')",
  "sum(unique($orders), 'total')",
  "sum(filter($orders, o => count($orders) > 1), 'total')",
  "first($orders, 'total')",
  '$orders.length',
  'count($orders, open)',
  'any($orders)',
  "sum($orders, 'total +')",
])('F89: %s needs its whole list', (text) => expect(foldable(text)).toBeUndefined());
