export interface InOrderLimits<T> {
  /** Most items that are worked on at once. */
  readonly maxItems: number;
  /** Most weight of such items; an item that is heavier is worked on alone. */
  readonly maxWeight: number;
  readonly weightOf: (item: T) => number;
}

interface Pending<R> {
  readonly result: Promise<R>;
  readonly weight: number;
}

/**
 * Works on several items at once and yields the results in the order of the items, each as soon as it and those before it are there.
 * An item is taken from the source only when there is room for it, so a slow consumer or slow work holds the source back. A rejection of
 * the work or of the source ends the iteration with it.
 */
export async function* inOrder<T, R>(
  source: AsyncIterable<T>,
  work: (item: T) => Promise<R>,
  limits: InOrderLimits<T>,
): AsyncGenerator<R, void, undefined> {
  const items = source[Symbol.asyncIterator]();
  const pending: Pending<R>[] = [];
  let weight = 0;
  let waiting: T | undefined;
  let reading: Promise<IteratorResult<T>> | undefined;
  let ended = false;
  try {
    for (;;) {
      if (waiting !== undefined && hasRoom(pending.length, weight, limits, limits.weightOf(waiting))) {
        const started = start(work, waiting, limits.weightOf(waiting));
        pending.push(started);
        weight += started.weight;
        waiting = undefined;
      }
      if (waiting === undefined && !ended) reading ??= items.next();
      const [first] = pending;
      if (reading === undefined && first === undefined) return;
      const settled = await firstOf(reading, first?.result);
      if (settled.kind === 'result') {
        pending.shift();
        weight -= first?.weight ?? 0;
        yield settled.value;
      } else {
        reading = undefined;
        if (settled.step.done === true) ended = true;
        else waiting = settled.step.value;
      }
    }
  } finally {
    if (!ended) reading?.catch(() => undefined);
    // Not awaited: the source may be waiting for bytes that never come.
    if (!ended) items.return?.().catch(() => undefined);
  }
}

const hasRoom = <T>(count: number, weight: number, limits: InOrderLimits<T>, more: number): boolean =>
  count === 0 || (count < limits.maxItems && weight + more <= limits.maxWeight);

const start = <T, R>(work: (item: T) => Promise<R>, item: T, weight: number): Pending<R> => {
  const result = work(item);
  result.catch(() => undefined); // the iteration throws it in its turn
  return { result, weight };
};

type Settled<T, R> =
  { readonly kind: 'step'; readonly step: IteratorResult<T> } | { readonly kind: 'result'; readonly value: R };

const firstOf = <T, R>(
  reading: Promise<IteratorResult<T>> | undefined,
  result: Promise<R> | undefined,
): Promise<Settled<T, R>> =>
  Promise.race([
    ...(result === undefined ? [] : [result.then((value): Settled<T, R> => ({ kind: 'result', value }))]),
    ...(reading === undefined ? [] : [reading.then((step): Settled<T, R> => ({ kind: 'step', step }))]),
  ]);
