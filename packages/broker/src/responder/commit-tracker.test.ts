import fc from 'fast-check';
import { CommitTracker } from './commit-tracker';

describe('CommitTracker', () => {
  it('has nothing to commit before anything is finished', () => {
    const tracker = new CommitTracker();
    tracker.accept(5);
    expect(tracker.committable()).toBeUndefined();
  });

  it('commits only what is finished without a gap', () => {
    const tracker = new CommitTracker();
    const [first, second, third] = [tracker.accept(5), tracker.accept(6), tracker.accept(9)];
    expect(tracker.finish(third)).toBe(false);
    expect(tracker.finish(first)).toBe(true);
    expect(tracker.committable()).toBe(6);
    expect(tracker.finish(second)).toBe(true);
    expect(tracker.committable()).toBe(10);
  });

  it('commits an offset once', () => {
    const tracker = new CommitTracker();
    tracker.finish(tracker.accept(0));
    tracker.markCommitted(1);
    expect(tracker.committable()).toBeUndefined();
    tracker.finish(tracker.accept(1));
    expect(tracker.committable()).toBe(2);
  });

  it('agrees with a plain reading of the rule, in whatever order messages finish', () => {
    const orders = fc.integer({ min: 1, max: 30 }).chain((count) =>
      fc.shuffledSubarray(
        Array.from({ length: count }, (_, index) => index),
        { minLength: count },
      ),
    );
    fc.assert(
      fc.property(orders, (order) => {
        const tracker = new CommitTracker();
        const accepted = order.map((_, index) => tracker.accept(100 + index * 2));
        const finished = new Set<number>();
        for (const index of order) {
          const tracked = accepted[index];
          if (tracked !== undefined) tracker.finish(tracked);
          finished.add(index);
          let prefix = 0;
          while (finished.has(prefix)) prefix += 1;
          expect(tracker.committable()).toBe(prefix === 0 ? undefined : 100 + (prefix - 1) * 2 + 1);
        }
      }),
    );
  });
});
