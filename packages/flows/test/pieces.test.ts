import { LongWork, PIECE, sortInPieces } from '../src/run/pieces';

const finished = <T>(pieces: Generator<undefined, T>): { readonly value: T; readonly pauses: number } => {
  for (let pauses = 0; ; pauses += 1) {
    const piece = pieces.next();
    if (piece.done === true) return { value: piece.value, pauses };
  }
};

const ascending = (a: readonly number[], b: readonly number[]): number => (a[0] ?? 0) - (b[0] ?? 0);

describe('sortInPieces', () => {
  it.each([0, 1, 2, 999, 1_000, 1_001, 4_096, 10_500])('sorts %d members stably', (size) => {
    const list = Array.from({ length: size }, (_, index) => [(index * 7_919) % 1_009, index]);
    const { value } = finished(sortInPieces(list, ascending));
    expect(value).toEqual([...list].sort(ascending));
  });

  it('compares at most some thousand members in one piece', () => {
    let compared = 0;
    let most = 0;
    const list = Array.from({ length: 50_000 }, (_, index) => [(index * 7_919) % 49_999]);
    const pieces = sortInPieces(list, (a, b) => {
      compared += 1;
      return ascending(a, b);
    });
    for (let isDone = false; !isDone;) {
      compared = 0;
      isDone = pieces.next().done === true;
      most = Math.max(most, compared);
    }
    expect(most).toBeLessThan(PIECE * 12);
  });

  it('answers a sorted list unchanged', () => {
    const list = Array.from({ length: 10_000 }, (_, index) => [index]);
    expect(finished(sortInPieces(list, ascending))).toEqual({ value: list, pauses: 9 });
  });
});

describe('LongWork', () => {
  function* counting(upTo: number): Generator<undefined, number> {
    for (let count = 0; count < upTo; count += 1) yield;
    return upTo;
  }

  it('does the first piece at once and each further one on request', () => {
    const work = new LongWork();
    const done: number[] = [];
    work.begin(
      counting(2),
      (value) => done.push(value),
      () => undefined,
    );
    expect([work.isUnderWay, work.goOn(), done.length]).toEqual([true, true, 0]);
    expect([work.goOn(), work.isUnderWay, done, work.goOn()]).toEqual([true, false, [2], false]);
  });

  it('passes on errors of a piece and of the callback', () => {
    const work = new LongWork();
    const failed: unknown[] = [];
    work.begin(
      counting(0),
      () => {
        throw new RangeError('no');
      },
      (error) => failed.push(error),
    );
    expect(failed).toEqual([new RangeError('no')]);
    expect(work.isUnderWay).toBe(false);
  });
});
