import { randomUUID } from 'node:crypto';
import {
  findRelatedPieces,
  insertContext,
  type RelatedPiece,
  type RelatedPiecesQuery,
  type Transaction,
  type WantedFact,
  writeLinks,
} from '../../src';
import { asOwner } from '../as-owner';
import { newContext, saveInstances, write } from '../contexts/context-fixtures';
import { useTestWorkspace } from '../test-workspace';

const workspace = useTestWorkspace('related_pieces');
const { inside } = workspace;
let contextId: string;
const range = (length: number): number[] => Array.from({ length }, (_, index) => index);
const wanted = (key: string, defaultValue: unknown = null): WantedFact => ({ key, defaultValue });

// In an order that differs from that of the ids and from that of UTF-16 units.
const ids = ['c2', 'c1', '\u{1F600}', '\uFFFD'];
const total = wanted('total');

beforeEach(async () => {
  contextId = randomUUID();
  await inside((t) => insertContext(t, newContext({ id: contextId })));
  const orders = ids.flatMap((id, index) =>
    range(3 * index + 1).map((n) => write(`${id}-${String(n).padStart(2, '0')}`, { k: id, total: n })),
  );
  await inside((t) => saveInstances(t, contextId, orders));
  await link(orders);
});

/** Links instances by the fact `k`. */
const link = (holders: readonly ReturnType<typeof write>[]): Promise<void> =>
  inside((t) =>
    writeLinks(
      t,
      contextId,
      holders.map(({ instanceId, facts }) => ({ instanceId, fact: 'k', targetId: String(facts['k']) })),
    ),
  );

const collect = async (t: Transaction, query: RelatedPiecesQuery): Promise<RelatedPiece[]> => {
  const found: RelatedPiece[] = [];
  for await (const piece of findRelatedPieces(t, query)) found.push(piece);
  return found;
};
const pieces = (query: Partial<RelatedPiecesQuery> = {}) =>
  inside((t) =>
    collect(t, { contextId, foreignKeyFact: 'k', ids: [...ids, 'none'], facts: [total], most: 1_000, ...query }),
  );
const totalsOf = (found: readonly RelatedPiece[]) =>
  ids.map((id) =>
    found.filter(({ ofId }) => ofId === id).flatMap(({ related }) => related.map((facts) => facts['total'])),
  );
const all = ids.map((_, index) => range(3 * index + 1));

it.each([1, 2, 3, 4, 5, 10, 21, 22, 23])(
  'reads related instances in pieces of at most %d links, each once and in order',
  async (most) => {
    const found = await pieces({ most });
    expect(totalsOf(found)).toEqual(all);
    expect(found.every(({ related }) => related.length <= most)).toBe(true);
  },
);

it('whole where no facts are named', async () => {
  const [piece] = await pieces({ ids: ['c2'], facts: undefined });
  expect(piece).toEqual({ ofId: 'c2', related: [{ id: 'c2-00', k: 'c2', total: 0 }], bytes: 38 });
});

it('fills in defaults if a fact was never given, orders derived facts before others, and keeps null', async () => {
  const parts = { derived: { d: 2, e: null }, executions: {}, isNew: false };
  await inside((t) =>
    saveInstances(t, contextId, [
      { ...parts, instanceId: 'x1', facts: { k: 'x', d: 1, e: 1, n: null } },
      { ...parts, instanceId: 'x2', facts: { k: 'x' }, derived: {} },
    ]),
  );
  await link(['x1', 'x2'].map((id) => write(id, { k: 'x' })));
  const facts = [wanted('d', 9), wanted('e', 9), wanted('n', [9]), wanted('z')];
  expect(await pieces({ ids: ['x'], facts })).toEqual([
    {
      bytes: 38,
      ofId: 'x',
      related: [
        { d: 2, e: null, n: null, z: null },
        { d: 9, e: 9, n: [9], z: null },
      ],
    },
  ]);
  expect(await pieces({ ids: ['x'], facts: [] })).toEqual([{ ofId: 'x', related: [{}, {}], bytes: 4 }]);
});

it('leaves out instances that do not exist any more, or were linked before', async () => {
  await inside((t) => writeLinks(t, contextId, [{ instanceId: 'c1-01', fact: 'k', targetId: 'c2' }]));
  expect(totalsOf(await pieces({ most: 2 })).slice(0, 2)).toEqual([
    [1, 0],
    [0, 2, 3],
  ]);
  await asOwner(workspace.url, `update context_instances set expires_at = now() where context_id = '${contextId}' and instance_id = 'c1-02'`); // prettier-ignore
  expect(totalsOf(await pieces({ most: 1 })).slice(0, 2)).toEqual([
    [1, 0],
    [0, 3],
  ]);
});

it('and leave out the rest of those whose related ones take more bytes than are wanted of each', async () => {
  const found = totalsOf(await pieces({ most: 2, mostBytesOfEach: 3 * '[0]'.length }));
  expect(found.slice(0, 2)).toEqual([[0], [0, 1, 2, 3]]);
  for (const list of found.slice(2)) {
    expect(list.length).toBeGreaterThan(3);
    expect(list.length).toBeLessThan(7);
  }
});
