import fc from 'fast-check';
import { createDeadlineWheel, SLOT_MS } from './deadline-wheel';

describe('createDeadlineWheel', () => {
  it('is empty at first', () => {
    const wheel = createDeadlineWheel<string>();
    expect(wheel.nextDue()).toBeUndefined();
    expect(wheel.takeDue(Number.MAX_SAFE_INTEGER)).toEqual([]);
  });

  it('gives an item once, when it is due', () => {
    const wheel = createDeadlineWheel<string>();
    const dueAt = wheel.add(1_000, 'a');
    expect(wheel.nextDue()).toBe(dueAt);
    expect(wheel.takeDue(dueAt - 1)).toEqual([]);
    expect(wheel.takeDue(dueAt)).toEqual(['a']);
    expect(wheel.takeDue(dueAt)).toEqual([]);
    expect(wheel.nextDue()).toBeUndefined();
  });

  it('forgets what is removed, and does not mind what it never had', () => {
    const wheel = createDeadlineWheel<string>();
    wheel.add(1_000, 'a');
    wheel.add(1_000, 'b');
    wheel.remove(1_000, 'a');
    wheel.remove(1_000, 'a');
    wheel.remove(9_000, 'c');
    expect(wheel.takeDue(2_000)).toEqual(['b']);
  });

  it('expires every item after its deadline and less than a slot late', () => {
    const times = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 50 });
    fc.assert(
      fc.property(times, fc.integer({ min: 0, max: 100_000 }), (deadlines, now) => {
        const wheel = createDeadlineWheel<number>();
        for (const deadline of deadlines) {
          const dueAt = wheel.add(deadline, deadline);
          expect(dueAt).toBeGreaterThanOrEqual(deadline);
          expect(dueAt - deadline).toBeLessThan(SLOT_MS);
        }
        const due = wheel.takeDue(now);
        expect(due.every((deadline) => deadline <= now)).toBe(true);
        // An array may name a deadline twice; the wheel holds each item once.
        const overdue = deadlines.filter((deadline) => deadline + SLOT_MS <= now);
        expect(overdue.every((deadline) => due.includes(deadline))).toBe(true);
        expect(wheel.nextDue() ?? Infinity).toBeGreaterThan(now);
      }),
    );
  });
});
