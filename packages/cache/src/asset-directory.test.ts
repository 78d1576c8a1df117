import { randomUUID } from 'node:crypto';
import { cacheKeys, type RulePointer } from '@decision/contracts';
import { type AssetDirectory, type AssetReference, type AssetSource, createAssetDirectory } from './asset-directory';
import { type Cache } from './cache';
import { openCache } from './open-cache';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const workspaceId = randomUUID();
const pointer: RulePointer = {
  rule_id: randomUUID(),
  user_groups: ['north'],
  latest: { version: 3, version_id: randomUUID() },
  pins: { production: { version: 1, version_id: randomUUID() } },
};
const second = randomUUID();

let cache: Cache;
let directory: AssetDirectory;
let asked: string[];

const source: AssetSource = {
  findPointer: (workspace, kind, slug) => {
    asked.push(`pointer of ${kind} ${slug}`);
    if (workspace !== workspaceId || slug === 'unknown') return Promise.resolve(undefined);
    return Promise.resolve(slug === 'draft' ? { ...pointer, latest: null } : pointer);
  },
  findNumberedVersion: (_workspace, assetId, number) => {
    asked.push(`number ${number}`);
    return Promise.resolve(assetId === pointer.rule_id && number === 2 ? { version_id: second } : undefined);
  },
};

beforeEach(() => {
  asked = [];
  cache = openCache({ url: undefined, keyPrefix: '' }, silent);
  directory = createAssetDirectory(cache, source);
});

afterEach(() => cache.close());

/** A reference to a rule. */
const rule = (slug: string, selector = 'latest') => ({ kind: 'rule' as const, slug, selector });

const anyone = { workspaceId, userGroups: undefined };

/** The id of the version that a reference means. */
const idOf = async (of: AssetDirectory, reference: AssetReference): Promise<string> =>
  (await of.resolve(anyone, reference)).version_id;

it('resolves latest and numbers, and asks once', async () => {
  for (let round = 0; round < 3; round += 1) {
    expect(await idOf(directory, rule('price'))).toBe(pointer.latest?.version_id);
    expect(await idOf(directory, rule('price', '2'))).toBe(second);
  }
  expect(asked).toEqual(['pointer of rule price', 'number 2']);
});

describe('a lookup without asking the source', () => {
  it('answers what resolve would answer, once resolve has asked', async () => {
    for (const selector of ['latest', '2', 'production']) {
      const reference = rule('price', selector);
      const known = directory.peek(anyone, reference);
      const answer = await directory.resolve(anyone, reference);
      expect(known?.version_id).toBe(selector === 'production' ? answer.version_id : undefined);
      expect(directory.peek(anyone, reference)).toMatchObject({
        version_id: answer.version_id,
        asset_id: answer.asset_id,
      });
    }
  });

  it('answers nothing for a viewer whom resolve would refuse', async () => {
    await directory.resolve(anyone, rule('price'));
    await expect(directory.resolve(anyone, rule('draft'))).rejects.toMatchObject({ code: 'rule_not_published' });
    await expect(directory.resolve(anyone, rule('unknown'))).rejects.toMatchObject({ code: 'rule_not_found' });
    expect(directory.peek({ workspaceId, userGroups: ['north'] }, rule('price'))).toBeDefined();
    expect(directory.peek({ workspaceId, userGroups: ['south'] }, rule('price'))).toBeUndefined();
    expect(directory.peek({ workspaceId: randomUUID(), userGroups: undefined }, rule('price'))).toBeUndefined();
    for (const reference of [rule('draft'), rule('unknown'), rule('price', 'staging'), rule('price', '7')])
      expect(directory.peek(anyone, reference)).toBeUndefined();
  });

  it('answers nothing once the slug has been invalidated', async () => {
    await directory.resolve(anyone, rule('price'));
    cache.invalidations.deliver({ v: 1, kind: 'rule', workspace_id: workspaceId, keys: [`rule:${workspaceId}:price`] });
    expect(directory.peek(anyone, rule('price'))).toBeUndefined();
  });
});

it('asks again once the slug has been invalidated', async () => {
  await directory.resolve(anyone, rule('price'));
  cache.invalidations.deliver({ v: 1, kind: 'rule', workspace_id: workspaceId, keys: [`rule:${workspaceId}:price`] });
  await directory.resolve(anyone, rule('price'));
  expect(asked).toEqual(['pointer of rule price', 'pointer of rule price']);
});

it('forgets a version number of a deleted rule at the announcement, or within 15 seconds without one', async () => {
  let now = 0;
  let deleted = false;
  const deleting: AssetSource = {
    ...source,
    findNumberedVersion: () => Promise.resolve(deleted ? undefined : { version_id: second }),
  };
  const following = createAssetDirectory(cache, deleting, () => now);
  const solve = () => idOf(following, rule('price', '1'));
  expect(await solve()).toBe(second);
  deleted = true;
  now += 14_999;
  expect(await solve()).toBe(second);
  now += 2;
  await expect(solve()).rejects.toMatchObject({ code: 'version_not_found' });
  deleted = false;
  now += 2_000;
  expect(await solve()).toBe(second);
  deleted = true;
  const keys = [cacheKeys.numberedVersion(pointer.rule_id, 1)];
  cache.invalidations.deliver({ v: 1, kind: 'rule', workspace_id: workspaceId, keys });
  await expect(solve()).rejects.toMatchObject({ code: 'version_not_found' });
});

it('resolves an environment to its pin, from the same cache entry', async () => {
  expect(await idOf(directory, rule('price', 'production'))).toBe(pointer.pins['production']?.version_id);
  await directory.resolve(anyone, rule('price'));
  expect(asked).toEqual(['pointer of rule price']);
});

it('follows a cutover at the announcement, or within 15 seconds without one', async () => {
  let now = 0;
  const versions = [randomUUID(), randomUUID(), randomUUID()] as const;
  let live: string = versions[0];
  const moving: AssetSource = {
    ...source,
    findPointer: () => Promise.resolve({ ...pointer, pins: { production: { version: 1, version_id: live } } }),
  };
  const following = createAssetDirectory(cache, moving, () => now);
  const solve = () => idOf(following, rule('moving', 'production'));
  expect(await solve()).toBe(versions[0]);
  live = versions[1];
  now += 14_999;
  expect(await solve()).toBe(versions[0]);
  now += 2;
  expect(await solve()).toBe(versions[1]);
  live = versions[2];
  cache.invalidations.deliver({
    v: 1,
    kind: 'release',
    workspace_id: workspaceId,
    keys: [`rule:${workspaceId}:moving`],
  });
  expect(await solve()).toBe(versions[2]);
});

it.each([
  ['unknown', 'latest', 'rule_not_found'],
  ['draft', 'latest', 'rule_not_published'],
  ['draft', '2', 'rule_not_published'],
  ['price', '9', 'version_not_found'],
  ['price', 'staging', 'environment_not_found'],
  ['price', '0', 'environment_not_found'],
  ['price', '02', 'environment_not_found'],
  ['price', '-1', 'environment_not_found'],
  ['price', '99999999999999999999', 'environment_not_found'],
  ['price', '__proto__', 'environment_not_found'],
  ['price', 'constructor', 'environment_not_found'],
  ['price', 'Production', 'environment_not_found'],
  ['draft', 'production', 'rule_not_published'],
])('refuses %s/%s with %s', async (slug, selector, code) => {
  await expect(directory.resolve(anyone, rule(slug, selector))).rejects.toMatchObject({ code });
});

describe('a viewer restricted to groups', () => {
  it('sees a rule of a group of its own', async () => {
    await expect(directory.resolve({ workspaceId, userGroups: ['south', 'north'] }, rule('price'))).resolves.toEqual({
      ...pointer.latest,
      asset_id: pointer.rule_id,
    });
  });

  it.each([[['south']], [[]]])('sees nothing with the groups %j, as if there were no such rule', async (userGroups) => {
    const hidden = { code: 'rule_not_found', message: 'No rule with the slug "price" is visible to this key.' };
    await expect(directory.resolve({ workspaceId, userGroups }, rule('price'))).rejects.toMatchObject(hidden);
    const unknown = { ...hidden, message: 'No rule with the slug "unknown" is visible to this key.' };
    await expect(directory.resolve(anyone, rule('unknown'))).rejects.toMatchObject(unknown);
  });
});

it('keeps workspaces apart', async () => {
  await directory.resolve(anyone, rule('price'));
  await expect(
    directory.resolve({ workspaceId: randomUUID(), userGroups: undefined }, rule('price')),
  ).rejects.toMatchObject({ code: 'rule_not_found' });
});

describe('flows', () => {
  const flow = (slug: string, selector = 'latest') => ({ kind: 'flow' as const, slug, selector });
  const outward: RulePointer = {
    rule_id: randomUUID(),
    user_groups: [],
    latest: { version: 2, version_id: randomUUID(), reaches_out: true },
    pins: { production: { version: 1, version_id: randomUUID(), reaches_out: false } },
  };
  const both: AssetSource = {
    findPointer: (_workspace, kind, slug) => {
      asked.push(`pointer of ${kind} ${slug}`);
      if (slug === 'draft') return Promise.resolve({ ...outward, latest: null });
      return Promise.resolve(slug === 'unknown' ? undefined : kind === 'flow' ? outward : pointer);
    },
    findNumberedVersion: (_workspace, assetId, number) =>
      Promise.resolve(
        assetId === outward.rule_id && number === 1 ? { version_id: second, reaches_out: true } : undefined,
      ),
  };

  beforeEach(() => (directory = createAssetDirectory(cache, both)));

  it('FL-101 share slugs with rules, and each kind is announced separately', async () => {
    expect(await idOf(directory, rule('price'))).toBe(pointer.latest?.version_id);
    expect(await idOf(directory, flow('price'))).toBe(outward.latest?.version_id);
    const keys = [cacheKeys.flowPointer(workspaceId, 'price')];
    cache.invalidations.deliver({ v: 1, kind: 'flow', workspace_id: workspaceId, keys });
    await directory.resolve(anyone, rule('price'));
    await directory.resolve(anyone, flow('price'));
    expect(asked).toEqual(['pointer of rule price', 'pointer of flow price', 'pointer of flow price']);
  });

  it.each([
    ['latest', true],
    ['1', true],
    ['production', false],
  ])('say whether the version behind %s reaches out', async (selector, reachesOut) => {
    expect(await directory.resolve(anyone, flow('price', selector))).toMatchObject({ reaches_out: reachesOut });
  });

  it.each([
    ['unknown', 'latest', 'flow_not_found', 'No flow with the slug "unknown" is visible to this key.'],
    ['draft', '1', 'flow_not_published', 'The flow "draft" has no published version; publish it before solving it.'],
    ['price', '9', 'version_not_found', 'The flow "price" has no version 9; the latest is 2.'],
    ['price', 'staging', 'environment_not_found', 'Nothing of the flow "price" is live in an environment "staging"'],
  ])('are refused at %s/%s with %s and a sentence about flows', async (slug, selector, code, sentence) => {
    const message = expect.stringContaining(sentence) as string;
    await expect(directory.resolve(anyone, flow(slug, selector))).rejects.toMatchObject({ code, message });
  });
});

describe('a reference that is followed', () => {
  it.each([
    ['price', 'latest', pointer.latest?.version_id],
    ['price', '2', second],
    ['price', '9', undefined],
    ['price', 'production', pointer.pins['production']?.version_id],
    ['price', 'staging', undefined],
    ['price', 'constructor', undefined],
    ['draft', 'latest', undefined],
    ['draft', 'production', undefined],
    ['unknown', 'latest', undefined],
  ])('resolves %s/%s to version %s, for assets of any group', async (slug, selector, versionId) => {
    expect(await directory.find(workspaceId, rule(slug, selector))).toBe(versionId);
  });
});
