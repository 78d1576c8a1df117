import { randomUUID } from 'node:crypto';
import { type Cache, openCache } from '@decision/cache';
import { type StoredApiKey } from '@decision/contracts';
import { createKeyDirectory } from './key-directory';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const key: StoredApiKey = {
  id: randomUUID(),
  workspaceId: randomUUID(),
  selector: 'abcdefghjkmn',
  secretHash: 'a'.repeat(64),
  role: 'solver',
  entitlements: ['solve'],
  userGroups: [],
  expiresAt: null,
  revokedAt: null,
};

let cache: Cache;
let now: number;
let revokedAt: string | null;
let loads: number;

beforeEach(() => {
  now = 1_000_000;
  revokedAt = null;
  loads = 0;
  cache = openCache({ url: undefined, keyPrefix: '' }, silent);
});
afterEach(() => cache.close());

const directory = () =>
  createKeyDirectory(
    cache,
    (selector) => {
      loads += 1;
      return Promise.resolve(selector === key.selector ? { ...key, revokedAt } : undefined);
    },
    () => now,
  );

it('sees a revocation within 60 seconds of reading the key if there is no cache server', async () => {
  const keys = directory();
  await keys.find(key.selector);
  revokedAt = '2026-01-01T00:00:00.000Z';
  now += 59_999;
  expect((await keys.find(key.selector))?.revokedAt).toBeNull();
  expect(loads).toBe(1);
  now += 1;
  expect((await keys.find(key.selector))?.revokedAt).toBe(revokedAt);
});

it('sees an announced revocation at once', async () => {
  const keys = directory();
  await keys.find(key.selector);
  revokedAt = '2026-01-01T00:00:00.000Z';
  cache.invalidations.deliver({ v: 1, kind: 'api-key', workspace_id: key.workspaceId, keys: [`key:${key.selector}`] });
  expect((await keys.find(key.selector))?.revokedAt).toBe(revokedAt);
});

it('remembers for a second that a key is unknown, so that guessing does not reach the database each time', async () => {
  const keys = directory();
  expect(await keys.find('zzzzzzzzzzzz')).toBeUndefined();
  expect(await keys.find('zzzzzzzzzzzz')).toBeUndefined();
  expect(loads).toBe(1);
  now += 1_001;
  await keys.find('zzzzzzzzzzzz');
  expect(loads).toBe(2);
});
