export interface InOrderLimits<T> {
  /** Maximum items in progress. */
  readonly maxItems: number;
  /** Maximum total weight of items in progress; a heavier item is processed alone. */
  readonly maxWeight: number;
  readonly weightOf: (item: T) => number;
}

interface Pending<R> {
  readonly result: Promise<R>;
  readonly weight: number;
}

/**
 * Processes several items at once and yields the results in item order, each as soon as it and the earlier ones are done. An item is taken
 * from the source only when there is room for it, so a slow consumer or slow work slows the source. A rejection of the work or of the
 * source ends the iteration with it.
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
  result.catch(() => undefined); // the iteration throws it in order
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
