import fc from 'fast-check';
import { explainHistory } from './explain-history';
import { type Facts, type Operation } from './history';

/** Random choices for one operation: its start and end around the moment at which it takes effect, and its action. */
interface Drawn {
  readonly facts: readonly string[];
  readonly reach: readonly [number, number];
  readonly fate: 'answered' | 'lost' | 'cut' | 'never';
}

const NAMES = ['a', 'b', 'c'];
const drawn = fc.record<Drawn>({
  facts: fc.subarray(NAMES),
  reach: fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 })),
  fate: fc.constantFrom('answered', 'answered', 'answered', 'lost', 'cut', 'never'),
});
const nothingDecided = () => null;

/** A history that took effect in the order in which it was drawn: operation n at the moment 10 n, answered around it. */
const happen = (all: readonly Drawn[]): Operation[] => {
  let facts: Facts = {};
  return all.map(({ facts: names, reach, fate }, index): Operation => {
    const writes = Object.fromEntries(names.map((name, at) => [name, 10 * (index + 1) + at]));
    const isRead = names.length === 0;
    if (fate !== 'never') facts = { ...facts, ...writes };
    const moment = 10 * index;
    return {
      name: `${index}`,
      begunAt: moment - 9 * reach[0],
      endedAt: moment + 1 + 9 * reach[1],
      writes: isRead ? undefined : writes,
      outcome:
        fate === 'answered' || isRead
          ? { type: 'seen', seen: { facts, decided: null }, settled: true }
          : { type: fate === 'cut' ? 'committed' : 'unknown' },
    };
  });
};

/** Tries every order of every set of operations: the definition, without any optimisation. */
const isSerialByDefinition = (operations: readonly Operation[]): boolean => {
  const extend = (facts: Facts, open: readonly Operation[]): boolean =>
    open.every(({ outcome }) => outcome.type === 'unknown') ||
    open.some((next) => {
      const isEarly = open.some(
        (other) => other !== next && other.outcome.type !== 'unknown' && other.endedAt < next.begunAt,
      );
      if (isEarly) return false;
      const after = { ...facts, ...next.writes };
      const { outcome } = next;
      const fits =
        outcome.type !== 'seen' ||
        JSON.stringify(Object.entries(outcome.seen.facts).sort()) === JSON.stringify(Object.entries(after).sort());
      return (
        fits &&
        extend(
          after,
          open.filter((other) => other !== next),
        )
      );
    });
  return extend({}, operations);
};

/** Orders that the service would have stored. */
const keptOrders = (all: readonly Drawn[]) =>
  Object.fromEntries(
    NAMES.map((name) => [
      name,
      all.flatMap(({ facts, fate }, index) => {
        const at = facts.indexOf(name);
        return at === -1 || fate === 'never' ? [] : [10 * (index + 1) + at];
      }),
    ]),
  );

it('explains every history that happened in some order', () => {
  fc.assert(
    fc.property(fc.array(drawn, { maxLength: 40 }), (all) => {
      const operations = happen(all);
      expect(explainHistory({ operations, orders: {} }, nothingDecided).type).toBe('serial');
      expect(explainHistory({ operations, orders: keptOrders(all) }, nothingDecided).type).toBe('serial');
    }),
    { numRuns: 300 },
  );
});

it('explains none of which a value was kept twice', () => {
  const values = fc
    .array(drawn, { minLength: 1, maxLength: 20 })
    .filter((all) => (keptOrders(all)['a'] ?? []).length > 0);
  fc.assert(
    fc.property(values, fc.nat(), (all, position) => {
      const orders = keptOrders(all);
      const a = orders['a'] ?? [];
      const twice = { ...orders, a: [...a, ...a.slice(position % a.length).slice(0, 1)] };
      expect(explainHistory({ operations: happen(all), orders: twice }, nothingDecided).type).toBe('not_serial');
    }),
    { numRuns: 200 },
  );
});

it('agrees with the definition on short histories, broken ones among them', () => {
  const verdicts = { serial: 0, not_serial: 0, undecided: 0 };
  const broken = fc.tuple(
    fc.array(drawn, { minLength: 2, maxLength: 6 }),
    fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 2 }),
  );
  fc.assert(
    fc.property(broken, ([all, swaps]) => {
      const operations = happen(all);
      // Answers are swapped: sometimes that breaks the history, and sometimes not.
      for (const [one, other] of swaps) {
        const [first, second] = [operations[one], operations[other]];
        if (first === undefined || second === undefined) continue;
        operations[one] = { ...first, outcome: second.outcome };
        operations[other] = { ...second, outcome: first.outcome };
      }
      const { type } = explainHistory({ operations, orders: {} }, nothingDecided);
      verdicts[type] += 1;
      expect(type === 'serial').toBe(isSerialByDefinition(operations));
    }),
    { numRuns: 1_000 },
  );
  expect(verdicts.serial).toBeGreaterThan(100);
  expect(verdicts.not_serial).toBeGreaterThan(100);
});

describe('of a service that merges at one moment and writes the decision back at a later one', () => {
  interface Step {
    readonly facts: readonly string[];
    readonly reach: readonly [number, number];
    /** `beside`: decided, in an answer in which something else was not settled. `cut`: an error, but the decision may follow nevertheless. */
    readonly fate: 'settled' | 'beside' | 'degraded' | 'cut' | 'cut and decided';
    readonly reads: readonly [boolean, boolean];
  }
  const step = fc.record<Step>({
    facts: fc.subarray(NAMES, { minLength: 1 }),
    reach: fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 })),
    fate: fc.constantFrom('settled', 'beside', 'degraded', 'cut', 'cut and decided'),
    reads: fc.tuple(fc.boolean(), fc.boolean()),
  });
  const decide = ({ a, b }: Facts): number | null => (a === undefined || b === undefined ? null : a * 10_000 + b);
  const read = (name: string, moment: number, facts: Facts, decided: number | null): Operation => ({
    ...{ name, begunAt: moment - 1, endedAt: moment + 1, writes: undefined },
    outcome: { type: 'seen', seen: { facts, decided }, settled: false },
  });

  /** Submission n merges at 100 n and is written back at 100 n + 50; reads are between and after. */
  const serve = (steps: readonly Step[]) => {
    let facts: Facts = {};
    let decided: number | null = null;
    const decisions: { readonly before: number | null; readonly after: number | null; readonly facts: Facts }[] = [];
    const operations = steps.flatMap(({ facts: names, reach, fate, reads }, index): Operation[] => {
      const merge = 100 * index;
      const writes = Object.fromEntries(names.map((name, at) => [name, 10 * (index + 1) + at]));
      facts = { ...facts, ...writes };
      const before = decided;
      if (fate !== 'degraded' && fate !== 'cut') decided = decide(facts);
      decisions.push({ before, after: decided, facts });
      const isCut = fate === 'cut' || fate === 'cut and decided';
      const submission: Operation = {
        ...{ name: `submit ${index}`, begunAt: merge - 90 * reach[0], endedAt: merge + 51 + 90 * reach[1], writes },
        outcome: isCut
          ? { type: 'committed' }
          : { type: 'seen', seen: { facts, decided }, settled: fate === 'settled' },
      };
      return [
        submission,
        ...(reads[0] ? [read(`between ${index}`, merge + 25, facts, before)] : []),
        ...(reads[1] ? [read(`behind ${index}`, merge + 75, facts, decided)] : []),
      ];
    });
    return { operations, decisions };
  };

  it('every history is explained', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const { operations } = serve(steps);
        expect(explainHistory({ operations, orders: {} }, decide)).toMatchObject({ type: 'serial' });
      }),
      { numRuns: 500 },
    );
  });

  it('none is in which a read behind an answer that shows the decision sees the one before', () => {
    let broken = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 10 }), fc.nat(9), (drawnSteps, position) => {
        const steps = drawnSteps.map((each) => ({ ...each, reach: [0, 0] as const }));
        const at = position % steps.length;
        const { operations, decisions } = serve(steps);
        const { before, after, facts } = decisions[at] ?? { before: null, after: null, facts: {} };
        const { fate } = steps[at] ?? { fate: 'cut' };
        fc.pre(before !== after && (fate === 'settled' || fate === 'beside'));
        broken += 1;
        const stale = read('stale', 100 * at + 60, facts, before);
        expect(explainHistory({ operations: [...operations, stale], orders: {} }, decide).type).toBe('not_serial');
      }),
      { numRuns: 300 },
    );
    expect(broken).toBeGreaterThan(100);
  });
});
