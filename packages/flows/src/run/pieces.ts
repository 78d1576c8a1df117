/** Long work in pieces of some hundred microseconds, with a yield after each. */
export type Pieces<T> = Generator<undefined, T>;

/** Values that one piece of work handles. */
export const PIECE = 1_000;

/** Work that is already finished. */
export const given = <T>(value: T): Pick<Pieces<T>, 'next'> => ({ next: () => ({ done: true, value }) });

/** Holds at most one piece of work in progress, which the evaluation continues before anything else. */
export class LongWork {
  private next: (() => void) | undefined;

  get isUnderWay(): boolean {
    return this.next !== undefined;
  }

  /** Does the first piece at once. Errors of `done` also go to `failed`. */
  begin<T>(pieces: Pick<Pieces<T>, 'next'>, done: (value: T) => void, failed: (error: unknown) => void): void {
    this.next = () => {
      try {
        const piece = pieces.next();
        if (piece.done !== true) return;
        this.next = undefined;
        done(piece.value);
      } catch (error) {
        this.next = undefined;
        failed(error);
      }
    };
    this.next();
  }

  /** Does the next piece; false if there is none. */
  goOn(): boolean {
    if (this.next === undefined) return false;
    this.next();
    return true;
  }
}

/** The sorted list; the same list if it is already sorted. The sort is stable. */
export function* sortInPieces<T>(list: readonly T[], compare: (a: T, b: T) => number): Pieces<readonly T[]> {
  if (yield* isInOrder(list, compare)) return list;
  let sorted: readonly T[] = yield* sortedParts(list, compare);
  for (let width = PIECE; width < list.length; width *= 2) sorted = yield* mergedPairs(sorted, width, compare);
  return sorted;
}

function* isInOrder<T>(list: readonly T[], compare: (a: T, b: T) => number): Pieces<boolean> {
  for (let at = 1; at < list.length; at += 1) {
    if (at % PIECE === 0) yield;
    if (compare(list[at - 1] as T, list[at] as T) > 0) return false; // within the list
  }
  return true;
}

/** Sorts each part of the size of a piece. */
function* sortedParts<T>(list: readonly T[], compare: (a: T, b: T) => number): Pieces<readonly T[]> {
  const sorted: T[] = [];
  for (let begin = 0; begin < list.length; begin += PIECE) {
    sorted.push(...list.slice(begin, begin + PIECE).sort(compare));
    yield;
  }
  return sorted;
}

/** Merges neighbouring sorted parts of a width. */
function* mergedPairs<T>(list: readonly T[], width: number, compare: (a: T, b: T) => number): Pieces<readonly T[]> {
  const merged: T[] = [];
  for (let begin = 0; begin < list.length; begin += 2 * width) {
    let [left, right] = [begin, begin + width];
    const [middle, end] = [Math.min(right, list.length), Math.min(right + width, list.length)];
    while (left < middle || right < end) {
      const takesLeft = right >= end || (left < middle && compare(list[left] as T, list[right] as T) <= 0); // within the list
      merged.push(list[takesLeft ? left : right] as T); // within the list
      if (takesLeft) left += 1;
      else right += 1;
      if (merged.length % PIECE === 0) yield;
    }
  }
  return merged;
}
