import { type Identity } from './authenticator';
import { createKeyUse } from './key-use';

const identity = (keyId: string): Identity => ({
  keyId,
  workspaceId: 'w',
  role: 'solver',
  entitlements: new Set(),
  userGroups: undefined,
});

it('notes each key at most once a minute', () => {
  const noted: string[] = [];
  let now = 0;
  const use = createKeyUse({ record: ({ keyId }) => Promise.resolve(void noted.push(keyId)), now: () => now });
  for (now = 0; now < 180_000; now += 1_000) use(identity('a'));
  expect(noted).toEqual(['a', 'a', 'a']);
  use(identity('b'));
  expect(noted).toEqual(['a', 'a', 'a', 'b']);
});

it('survives a store that fails or hangs, and does not pile up', async () => {
  const failures: unknown[] = [];
  const failing = createKeyUse({
    record: () => Promise.reject(new TypeError('away')),
    now: () => 0,
    onFailure: (error) => failures.push(error),
  });
  failing(identity('a'));
  await new Promise(setImmediate);
  expect(failures).toEqual([expect.objectContaining({ message: 'away' })]);

  let begun = 0;
  const hanging = createKeyUse({ record: () => (begun++, new Promise(() => undefined)), now: () => 0 });
  for (let key = 0; key < 100; key += 1) hanging(identity(`k${key}`));
  expect(begun).toBe(10);
});
