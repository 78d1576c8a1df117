import { answerFault } from './answer';
import { answerFaultInPieces } from './answer-size';

const inPieces = (values: readonly unknown[]): { readonly fault: string | undefined; readonly pauses: number } => {
  const pieces = answerFaultInPieces(values);
  for (let pauses = 0; ; pauses += 1) {
    const piece = pieces.next();
    if (piece.done === true) return { fault: piece.value, pauses };
  }
};

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
};
const shared = Array.from({ length: 4_000 }, () => 'text');
const LARGE = new Array(6_000).fill(1);

describe('answerFaultInPieces', () => {
  it.each<[string, readonly unknown[]]>([
    ['small', [1, 'a', { b: [null, undefined] }]],
    ['1,000 levels', [nested(1_000), LARGE]],
    ['1,001 levels', [nested(1_001), LARGE]],
    ['1,001 levels of little', [nested(1_001)]],
    ['a long text', ['x'.repeat(10_000_002)]],
    ['a text within the bound', ['x'.repeat(9_000_000)]],
    ['a list that is shared too often', [Array.from({ length: 1_000 }, () => shared)]],
    ['long keys', [{ ['k'.repeat(10_000_002)]: 1 }]],
  ])('says the same as answerFault: %s', (_, values) => {
    expect(inPieces(values).fault).toBe(answerFault(values));
  });

  it('pauses after every five thousand values', () => {
    const rows = Array.from({ length: 100_000 }, (_, n) => ({ n }));
    const { fault, pauses } = inPieces([rows]);
    expect(fault).toBeUndefined();
    expect(pauses).toBeGreaterThan(40);
  });
});
