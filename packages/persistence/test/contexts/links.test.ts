import {
  findLinkHolders,
  findLinkTargets,
  findRelatedPieces,
  forgetFormerLinks,
  insertContext,
  type Transaction,
  writeLinks,
} from '../../src';
import { useTestWorkspace } from '../test-workspace';
import { genericPlans, newContext, saveInstances, write } from './context-fixtures';

const workspace = useTestWorkspace('links');
const { inside } = workspace;
const orders = newContext();
const LINKS = 1_000;
const idOf = (n: number): string => `o${String(n).padStart(4, '0')}`;

/** One target with nearly all links of the context, in which three others have one each. */
beforeAll(async () => {
  await inside((t) => insertContext(t, orders));
  const ids = Array.from({ length: LINKS + 3 }, (_, n) => idOf(n));
  const targetOf = (n: number): string => (n < LINKS ? 'busy' : `quiet ${n - LINKS}`);
  await inside(async (t) => {
    await saveInstances(t, orders.id, ids.map((id) => write(id, { total: 1 }))); // prettier-ignore
    await writeLinks(t, orders.id, ids.map((instanceId, n) => ({ instanceId, fact: 'k', targetId: targetOf(n) }))); // prettier-ignore
  });
});

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Links that were read, including those that did not fit. */
const linksRead = (node: PlanNode): number => {
  const below = (node.Plans ?? []).reduce((sum, plan) => sum + linksRead(plan), 0);
  if (node['Relation Name'] !== 'context_links') return below;
  return below + node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0));
};

/** Links and index that the first statement of some work reads, though its plan was made for any values, without statistics. */
const readingOf = async (work: (t: Transaction) => Promise<unknown>) => {
  const [plan = ''] = await inside((t) => genericPlans(t, work));
  const [row] = JSON.parse(plan) as [{ 'QUERY PLAN': [{ Plan: PlanNode }] }];
  return { links: linksRead(row['QUERY PLAN'][0].Plan), index: /"Index Name":"(context_links[^"]*)"/.exec(plan)?.[1] };
};

const page = { contextId: orders.id, fact: 'k', after: '' };
const pieces = { contextId: orders.id, foreignKeyFact: 'k', facts: [{ key: 'total', defaultValue: null }], most: 10 };

describe('links of a context with many', () => {
  it('to a target with few: only those are read', async () => {
    const work = (t: Transaction) => findLinkHolders(t, { ...page, instanceIds: ['quiet 0'], limit: 10 });
    expect(await inside(work)).toEqual([idOf(LINKS)]);
    expect(await readingOf(work)).toEqual({ links: 1, index: 'context_links_by_target' });
  });

  it('to a target with many: only a page is read', async () => {
    const work = (t: Transaction) =>
      findLinkHolders(t, { ...page, after: idOf(499), instanceIds: ['busy', 'quiet 1'], limit: 10 });
    expect(await inside(work)).toEqual(Array.from({ length: 10 }, (_, n) => idOf(500 + n)));
    const { links, index } = await readingOf(work);
    expect(index).toBe('context_links_by_target');
    expect(links).toBeLessThanOrEqual(12); // the plan rounds the mean of two targets
  });

  it('of few instances: only those are read', async () => {
    const work = (t: Transaction) =>
      findLinkTargets(t, { ...page, after: undefined, instanceIds: [idOf(7)], limit: 10 });
    expect(await inside(work)).toEqual([{ instanceId: idOf(7), targetId: 'busy' }]);
    expect(await readingOf(work)).toEqual({ links: 1, index: 'context_links_pkey' });
  });

  it('whose instances are read in pieces: each statement reads a page, and every instance comes once', async () => {
    const read = async (t: Transaction) => {
      const found = new Map<string, number>();
      for await (const { ofId, related } of findRelatedPieces(t, { ...pieces, ids: ['quiet 1', 'busy', 'quiet 0'] }))
        found.set(ofId, (found.get(ofId) ?? 0) + related.length);
      return found;
    };
    expect([...(await inside(read))]).toEqual([
      ['busy', LINKS],
      ['quiet 0', 1],
      ['quiet 1', 1],
    ]);
    expect(await readingOf(read)).toEqual({ links: 10, index: 'context_links_by_target' });
  });

  it('of several instances: only those are read, changed and forgotten', async () => {
    const ids = Array.from({ length: 50 }, (_, n) => idOf(n));
    const targets = (t: Transaction) => findLinkTargets(t, { ...page, after: undefined, instanceIds: ids, limit: 500 });
    const leave = (t: Transaction) =>
      writeLinks(t, orders.id, ids.map((instanceId) => ({ instanceId, fact: 'k', targetId: 'other' }))); // prettier-ignore
    const forget = (t: Transaction) => forgetFormerLinks(t, orders.id, new Map(ids.map((id) => [id, 1])));
    expect(await inside(targets)).toHaveLength(ids.length);
    for (const work of [targets, leave, forget]) {
      const { links, index } = await readingOf(work);
      expect(index).toBe('context_links_pkey');
      expect(links).toBeLessThanOrEqual(3 * ids.length); // two of each found, one changed
    }
  });
});
