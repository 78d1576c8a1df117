import fc from 'fast-check';
import { type ManagedValue, type ValuePlan } from '@decision/persistence';
import { keyText, type WantedValue } from './managed-values';
import { type FieldRename, planValues } from './plan-values';

const wantedMember = (path: string, member: string | number): WantedValue => ({
  path,
  member: JSON.stringify(member),
  name: `${path}.${member}`,
  type: typeof member === 'string' ? 'string' : 'number',
  content: member,
  metadata: {},
});

/** Applies a plan as the database does. */
const carryOut = (existing: readonly ManagedValue[], plan: ValuePlan, newId: () => string): ManagedValue[] => {
  const released = new Set(plan.release.map(({ id }) => id));
  const archived = new Set(plan.archive.map(({ id }) => id));
  const changed = new Map(plan.change.map((change) => [change.id, change]));
  return [
    ...existing
      .filter(({ id }) => !released.has(id))
      .map((value): ManagedValue => {
        const change = changed.get(value.id);
        if (change === undefined) return archived.has(value.id) ? { ...value, archived: true } : value;
        const { revived: _revived, renamed: _renamed, ...rest } = change;
        return { ...rest, archived: false };
      }),
    ...plan.create.map((value) => ({ ...value, id: newId(), archived: false })),
  ];
};

const counter = (): (() => string) => {
  let next = 0;
  return () => `id${(next += 1)}`;
};

const wantedSet = fc
  .uniqueArray(
    fc.tuple(fc.constantFrom('a', 'b', 'a.b'), fc.oneof(fc.constantFrom('x', 'y', '1', 'b', 'b.x'), fc.constant(1))),
    { selector: ([path, member]) => `${path}.${member}` },
  )
  .map((pairs) => pairs.map(([path, member]) => wantedMember(path, member)));

/** A change that a request can make: the old field is gone, the new one is there. */
const renameFor = (wanted: readonly WantedValue[], rename: FieldRename | undefined): FieldRename | undefined => {
  if (rename === undefined) return undefined;
  const paths = new Set(wanted.map(({ path }) => path));
  return paths.has(rename.to) && !paths.has(rename.from) ? rename : undefined;
};

const step = fc.record({
  wanted: wantedSet,
  rename: fc.option(
    fc.constantFrom<FieldRename>({ from: 'a', to: 'b' }, { from: 'b', to: 'a' }, { from: 'a', to: 'a.b' }),
    { nil: undefined },
  ),
});

describe('planValues', () => {
  it('leaves exactly what is wanted active, names apart, identities kept, whatever came before', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const newId = counter();
        let values: ManagedValue[] = [];
        for (const { wanted, rename } of steps) {
          const before = values;
          const applied = renameFor(wanted, rename);
          values = carryOut(before, planValues(before, wanted, applied), newId);
          const active = values.filter(({ archived }) => !archived);
          expect(active.map(keyText).sort()).toEqual(wanted.map(keyText).sort());
          expect(active.map(({ name }) => name).sort()).toEqual(wanted.map(({ name }) => name).sort());
          expect(new Set(values.map(({ name }) => name)).size).toBe(values.length);
          expect(planValues(values, wanted, undefined)).toMatchObject({
            create: [],
            change: [],
            archive: [],
            release: [],
          });
          if (applied !== undefined) continue;
          for (const value of active) {
            const same = before.find((earlier) => keyText(earlier) === keyText(value));
            if (same !== undefined) expect(value.id).toBe(same.id);
          }
        }
      }),
      { numRuns: 400 },
    );
  });

  it('counts every wanted value once', () => {
    fc.assert(
      fc.property(wantedSet, wantedSet, (first, second) => {
        const values = carryOut([], planValues([], first), counter());
        const plan = planValues(values, second);
        expect(plan.create.length + plan.change.length + plan.unchanged).toBe(second.length);
      }),
    );
  });

  it('gives values of a renamed field its new name, before those that had it', () => {
    const newId = counter();
    const both = carryOut([], planValues([], [wantedMember('a', 'x'), wantedMember('b', 'x')]), newId);
    const [a, b] = both;
    const plan = planValues(both, [wantedMember('b', 'x')], { from: 'a', to: 'b' });
    expect(plan.change).toMatchObject([{ id: a?.id, name: 'b.x', path: 'b', renamed: true, revived: false }]);
    expect(plan.release).toEqual([{ id: b?.id, name: `b.x (replaced ${b?.id})` }]);
    expect(plan.archive).toEqual([{ id: b?.id, name: 'b.x' }]);
  });

  it('renames fields within the renamed one', () => {
    const values = carryOut([], planValues([], [wantedMember('a.b', 'x')]), counter());
    const plan = planValues(values, [wantedMember('c.b', 'x')], { from: 'a', to: 'c' });
    expect(plan).toMatchObject({ create: [], archive: [], change: [{ id: values[0]?.id, name: 'c.b.x' }] });
  });

  it('lets a value go whose name another type needs', () => {
    const values = carryOut([], planValues([], [wantedMember('a', 1)]), counter());
    const plan = planValues(values, [wantedMember('a', '1')]);
    expect(plan).toMatchObject({ create: [{ name: 'a.1', type: 'string' }], release: [{ id: values[0]?.id }] });
  });
});
