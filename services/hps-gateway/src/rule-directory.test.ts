import { randomUUID } from 'node:crypto';
import { type Cache, openCache } from '@decision/cache';
import { cacheKeys, type RulePointer } from '@decision/contracts';
import { createRuleDirectory, type RuleDirectory, type RuleSource } from './rule-directory';

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
let directory: RuleDirectory;
let asked: string[];

const source: RuleSource = {
  findPointer: (workspace, slug) => {
    asked.push(`pointer ${slug}`);
    if (workspace !== workspaceId || slug === 'unknown') return Promise.resolve(undefined);
    return Promise.resolve(slug === 'draft' ? { ...pointer, latest: null } : pointer);
  },
  findNumberedVersion: (_workspace, ruleId, number) => {
    asked.push(`number ${number}`);
    return Promise.resolve(ruleId === pointer.rule_id && number === 2 ? { version_id: second } : undefined);
  },
};

beforeEach(() => {
  asked = [];
  cache = openCache({ url: undefined, keyPrefix: '' }, silent);
  directory = createRuleDirectory(cache, source);
});

afterEach(() => cache.close());

const anyone = { workspaceId, userGroups: undefined };

it('resolves latest and numbers, and asks once', async () => {
  for (let round = 0; round < 3; round += 1) {
    expect(await directory.resolve(anyone, 'rule', 'latest')).toBe(pointer.latest?.version_id);
    expect(await directory.resolve(anyone, 'rule', '2')).toBe(second);
  }
  expect(asked).toEqual(['pointer rule', 'number 2']);
});

it('asks again once the slug has been invalidated', async () => {
  await directory.resolve(anyone, 'rule', 'latest');
  cache.invalidations.deliver({ v: 1, kind: 'rule', workspace_id: workspaceId, keys: [`rule:${workspaceId}:rule`] });
  await directory.resolve(anyone, 'rule', 'latest');
  expect(asked).toEqual(['pointer rule', 'pointer rule']);
});

it('forgets a number of a deleted rule where it is announced, and within 15 seconds where it is not', async () => {
  let now = 0;
  let deleted = false;
  const deleting: RuleSource = {
    ...source,
    findNumberedVersion: () => Promise.resolve(deleted ? undefined : { version_id: second }),
  };
  const following = createRuleDirectory(cache, deleting, () => now);
  const solve = () => following.resolve(anyone, 'rule', '1');
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

it('resolves an environment to its pin, out of the same entry', async () => {
  expect(await directory.resolve(anyone, 'rule', 'production')).toBe(pointer.pins['production']?.version_id);
  await directory.resolve(anyone, 'rule', 'latest');
  expect(asked).toEqual(['pointer rule']);
});

it('follows a cutover within 15 seconds where no announcement arrives, and at once where one does', async () => {
  let now = 0;
  const versions = [randomUUID(), randomUUID(), randomUUID()] as const;
  let live: string = versions[0];
  const moving: RuleSource = {
    ...source,
    findPointer: () => Promise.resolve({ ...pointer, pins: { production: { version: 1, version_id: live } } }),
  };
  const following = createRuleDirectory(cache, moving, () => now);
  const solve = () => following.resolve(anyone, 'moving', 'production');
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
  ['rule', '9', 'version_not_found'],
  ['rule', 'staging', 'environment_not_found'],
  ['rule', '0', 'environment_not_found'],
  ['rule', '02', 'environment_not_found'],
  ['rule', '-1', 'environment_not_found'],
  ['rule', '99999999999999999999', 'environment_not_found'],
  ['rule', '__proto__', 'environment_not_found'],
  ['rule', 'constructor', 'environment_not_found'],
  ['rule', 'Production', 'environment_not_found'],
  ['draft', 'production', 'rule_not_published'],
])('refuses %s/%s with %s', async (slug, selector, code) => {
  await expect(directory.resolve(anyone, slug, selector)).rejects.toMatchObject({ code });
});

describe('a viewer restricted to groups', () => {
  it('sees a rule of a group of its own', async () => {
    await expect(directory.resolve({ workspaceId, userGroups: ['south', 'north'] }, 'rule', 'latest')).resolves.toBe(
      pointer.latest?.version_id,
    );
  });

  it.each([[['south']], [[]]])('sees nothing with the groups %j, as if there were no such rule', async (userGroups) => {
    const seen = await directory
      .resolve({ workspaceId, userGroups }, 'rule', 'latest')
      .catch((error: Error) => error.message);
    const unknown = await directory.resolve(anyone, 'unknown', 'latest').catch((error: Error) => error.message);
    expect(seen).toBe(unknown.toString().replace('unknown', 'rule'));
  });
});

it('keeps workspaces apart', async () => {
  await directory.resolve(anyone, 'rule', 'latest');
  await expect(
    directory.resolve({ workspaceId: randomUUID(), userGroups: undefined }, 'rule', 'latest'),
  ).rejects.toMatchObject({ code: 'rule_not_found' });
});
