import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import {
  deleteValue,
  findMembers,
  insertContext,
  loadCollections,
  lockContextWorld,
  saveCollectionGroups,
  saveValues,
  type SavedValue,
  type Transaction,
  updateValue,
} from '../../src';
import { asOwner } from '../as-owner';
import { useTestWorkspace } from '../test-workspace';
import { genericPlans, newContext } from './context-fixtures';

const workspace = useTestWorkspace('collections');
const { inside } = workspace;
const open = newContext({ id: randomUUID(), slug: 'open', userGroups: ['sales'] });
const narrow = newContext({ id: randomUUID(), slug: 'narrow', userGroups: ['sales'] });

beforeAll(() =>
  inside(async (t) => {
    await lockContextWorld(t);
    await insertContext(t, open);
    await insertContext(t, narrow);
    await saveCollectionGroups(t, narrow.id, { mixed: ['north'], list: ['north'] });
  }),
);

const save = async (t: Transaction, values: readonly SavedValue[], newUserGroups: string[] = []): Promise<string[]> => {
  const outcome = await saveValues(t, values, { newUserGroups });
  if (outcome.status !== 'saved') throw new Error(outcome.status);
  return values.map(({ name }) => outcome.values.find((value) => value.name === name)?.id ?? '');
};

/** Which of the values a fact may hold, as a submission finds out. */
const held = async (t: Transaction, contextId: string, collection: string, values: readonly unknown[]) => {
  const found = new Set((await findMembers(t, contextId, new Map([[collection, new Set(values)]]))).get(collection));
  return values.filter((value) => found.has(value));
};

it('finds named members, elements of a list, and the values to which the list refers', async () => {
  const found = await inside(async (t) => {
    const [id = ''] = await save(t, [{ name: 'other.yellow', type: 'string', content: 'yellow' }]);
    const reference = { $rb: 'globalValue', id, name: 'other.yellow' };
    await save(t, [
      { name: 'colors', type: 'list', content: ['red', 1, true, null, { a: 1 }, reference], refersTo: [id] },
      { name: 'colors.green', type: 'string', content: 'green' },
      { name: 'colorsX', type: 'string', content: 'blue' },
    ]);
    return held(t, open.id, 'colors', [
      'red',
      'green',
      'yellow',
      1,
      true,
      null,
      'blue',
      '1',
      'true',
      2,
      'null',
      'other.yellow',
    ]);
  });
  expect(found).toEqual(['red', 'green', 'yellow', 1, true, null]);
});

it('follows values that are added, changed, archived and deleted', async () => {
  const seen = await inside(async (t) => {
    const look = () => held(t, open.id, 'sizes', ['S', 'M', 'L']);
    const [id = ''] = await save(t, [{ name: 'sizes.small', type: 'string', content: 'S' }]);
    const steps = [await look()];
    await save(t, [{ name: 'sizes.large', type: 'string', content: 'L' }]);
    steps.push(await look());
    await save(t, [{ name: 'sizes.large', type: 'string', content: 'M' }]);
    steps.push(await look());
    await updateValue(t, id, { archived: true });
    steps.push(await look());
    await updateValue(t, id, { archived: false });
    steps.push(await look());
    await deleteValue(t, id);
    return [...steps, await look()];
  });
  expect(seen).toEqual([['S'], ['S', 'L'], ['S', 'M'], ['M'], ['S', 'M'], ['M']]);
});

it('counts only what the key saw that gave the context its collection', async () => {
  const found = await inside(async (t) => {
    await save(t, [{ name: 'mixed.a', type: 'string', content: 'a' }], ['north']);
    const [hidden = ''] = await save(t, [{ name: 'mixed.b', type: 'string', content: 'b' }], ['south']);
    const [seen = ''] = await save(t, [{ name: 'seen', type: 'string', content: 'c' }], ['north']);
    const content = ['d', ...[hidden, seen].map((id) => ({ $rb: 'globalValue', id, name: '?' }))];
    await save(t, [{ name: 'list', type: 'list', content, refersTo: [hidden, seen] }], ['north']);
    const of = async (contextId: string) => [
      await held(t, contextId, 'mixed', ['a', 'b']),
      await held(t, contextId, 'list', ['b', 'c', 'd']),
      (await loadCollections(t, ['list'], contextId)).get('list')?.toSorted(),
    ];
    return [await of(open.id), await of(narrow.id)];
  });
  expect(found).toEqual([
    [
      ['a', 'b'],
      ['b', 'c', 'd'],
      ['b', 'c', 'd'],
    ],
    [['a'], ['c', 'd'], ['c', 'd']],
  ]);
});

it('finds exactly the values that equal a member, whatever they contain', async () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'A', '"', '\\', '\u0000', 'é', 'e\u0301', '😀', '\ud83d', ' ', '1'),
  });
  const scalar = fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.boolean());
  await fc.assert(
    fc.asyncProperty(
      fc.array(scalar, { maxLength: 8 }),
      fc.array(scalar, { maxLength: 8 }),
      async (members, others) => {
        const name = `any${randomUUID()}`;
        const half = members.length >> 1;
        await inside(async (t) => {
          await save(t, [
            { name, type: 'list', content: members.slice(0, half) },
            ...members
              .slice(half)
              .map((content, at) => ({ name: `${name}.${at}`, type: typeof content as 'string', content })),
          ]);
          const all = new Set((await loadCollections(t, [name])).get(name));
          const sought = [...members, ...others];
          expect(await held(t, open.id, name, sought)).toEqual(sought.filter((value) => all.has(value)));
          expect(all).toEqual(new Set(members.map((member) => (Object.is(member, -0) ? 0 : member))));
        });
      },
    ),
    { seed: 20_261_127, numRuns: 60 },
  );
});

it('reads none of the other members, however often the statement was planned before', async () => {
  await inside((t) =>
    save(
      t,
      Array.from({ length: 2_000 }, (_, n) => ({ name: `many.${n}`, type: 'string' as const, content: `m${n}` })),
    ),
  );
  await asOwner(workspace.url, 'analyze workspace_values');
  const plans = await inside((t) =>
    genericPlans(t, (explaining) => findMembers(explaining, open.id, new Map([['many', new Set(['m7', 'm8'])]]))),
  );
  const [plan = ''] = plans.filter((text) => text.includes('workspace_values'));
  expect(plan).toContain('workspace_values_by_content');
  expect(plan).not.toContain('Seq Scan');
});
