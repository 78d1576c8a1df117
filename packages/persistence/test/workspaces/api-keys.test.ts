import { randomUUID } from 'node:crypto';
import { type ApiKeyRecord, checkStoredApiKey } from '@decision/contracts';
import {
  createApiKey,
  findApiKey,
  listApiKeys,
  type NewApiKey,
  recordKeyUse,
  revokeApiKey,
  type Transaction,
} from '../../src';
import { newApiKey, UNKNOWN_ID } from '../assets/rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

describe('API keys', () => {
  let workspace: TestWorkspace;
  beforeAll(async () => {
    workspace = await openTestWorkspace('api_keys');
  });
  afterAll(() => workspace.close());

  const inWorkspace = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    workspace.database.inWorkspace(workspace.access, work);

  const create = async (parts: Partial<NewApiKey> = {}): Promise<ApiKeyRecord> => {
    const outcome = await inWorkspace((transaction) => createApiKey(transaction, newApiKey(parts)));
    if (outcome.status !== 'created') throw new Error(`The key was not created: ${outcome.status}`);
    return outcome.key;
  };

  describe('createApiKey', () => {
    it('answers the key without its hash', async () => {
      const id = randomUUID();
      const key = newApiKey({ id, userGroups: ['sales'], expiresAt: '2030-01-01T00:00:00.000Z' });
      const outcome = await inWorkspace((transaction) => createApiKey(transaction, key));
      expect(outcome).toEqual({
        status: 'created',
        key: {
          id,
          name: 'CI',
          selector: key.selector,
          role: 'developer',
          userGroups: ['sales'],
          createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
          createdBy: 'tester',
          expiresAt: '2030-01-01T00:00:00.000Z',
          lastUsedAt: null,
          revokedAt: null,
        },
      });
    });

    it('makes an id if none is given', async () => {
      expect((await create()).id).toMatch(/^[0-9a-f-]{36}$/);
    });

    it('answers the roles of the workspace when the role is not one of them', async () => {
      expect(await inWorkspace((transaction) => createApiKey(transaction, newApiKey({ role: 'Admin' })))).toEqual({
        status: 'unknown_role',
        roles: ['admin', 'developer', 'editor', 'solver', 'viewer'],
      });
    });

    it('never stores a second key under an id or selector, of another workspace neither', async () => {
      const key = await create();
      const stranger = await workspace.addWorkspace('same-key');
      for (const parts of [{ selector: key.selector }, { id: key.id }]) {
        const creating = workspace.database.inWorkspace(stranger, (transaction) =>
          createApiKey(transaction, newApiKey(parts)),
        );
        await expect(creating).rejects.toMatchObject({
          code: 'internal_error',
          message: expect.stringContaining('exists'),
        });
      }
      expect(await findApiKey(workspace.database, key.selector)).toMatchObject({
        workspaceId: workspace.access.workspaceId,
      });
    });
  });

  describe('findApiKey', () => {
    it('answers what a service must know, before the workspace is known', async () => {
      const { id, selector } = await create({
        role: 'solver',
        userGroups: ['sales'],
        secretHash: 'c0ffee'.padEnd(64, '0'),
      });
      const found = await findApiKey(workspace.database, selector);
      expect(found).toEqual({
        id,
        workspaceId: workspace.access.workspaceId,
        selector,
        secretHash: 'c0ffee'.padEnd(64, '0'),
        role: 'solver',
        entitlements: ['solve', 'contexts.read', 'contexts.submit'],
        userGroups: ['sales'],
        expiresAt: null,
        revokedAt: null,
      });
      expect(checkStoredApiKey(found)).toMatchObject({ ok: true });
    });

    it('finds expired and revoked keys, and says so', async () => {
      const { id, selector } = await create({ expiresAt: '2020-01-01T00:00:00.000Z' });
      await inWorkspace((transaction) => revokeApiKey(transaction, id));
      expect(await findApiKey(workspace.database, selector)).toMatchObject({
        expiresAt: '2020-01-01T00:00:00.000Z',
        revokedAt: expect.stringMatching(/Z$/),
      });
    });

    it.each([
      ['an unknown selector', 'unknown'],
      ['nothing', ''],
      ['a pattern', '%'],
      ['an injection', "' or true --"],
      ['a very long text', 'x'.repeat(10_000)],
    ])('finds nothing behind %s', async (_, selector) => {
      await create();
      expect(await findApiKey(workspace.database, selector)).toBeUndefined();
    });
  });

  describe('listApiKeys', () => {
    it('pages newest first and holds every key once', async () => {
      const made: string[] = [];
      for (let index = 0; index < 7; index += 1) made.unshift((await create()).id);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await inWorkspace((transaction) => listApiKeys(transaction, { limit: 3, cursor }));
        seen.push(...page.keys.map(({ id }) => id));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      expect(seen.slice(0, 7)).toEqual(made);
      expect(new Set(seen).size).toBe(seen.length);
      const whole = await inWorkspace((transaction) => listApiKeys(transaction, { limit: 1000 }));
      expect(whole.keys.map(({ id }) => id)).toEqual(seen);
      expect(JSON.stringify(whole)).not.toMatch(/hash|(?:ab){8}/i);
    });

    it('refuses a cursor that was made up', async () => {
      const reading = inWorkspace((transaction) => listApiKeys(transaction, { limit: 1, cursor: 'W10' }));
      await expect(reading).rejects.toMatchObject({ code: 'invalid_request' });
    });
  });

  describe('revokeApiKey', () => {
    it('revokes once and for all', async () => {
      const key = await create();
      const first = await inWorkspace((transaction) => revokeApiKey(transaction, key.id));
      expect(first).toEqual({ ...key, revokedAt: expect.stringMatching(/Z$/) });
      expect(await inWorkspace((transaction) => revokeApiKey(transaction, key.id))).toEqual(first);
    });

    it.each([UNKNOWN_ID, 'not-a-uuid'])('finds no key %s', async (id) => {
      expect(await inWorkspace((transaction) => revokeApiKey(transaction, id))).toBeUndefined();
    });
  });

  describe('recordKeyUse', () => {
    it('notes the use, and within a minute not again', async () => {
      const { id, selector } = await create();
      const lastUsed = async () => {
        await inWorkspace((transaction) => recordKeyUse(transaction, id));
        const { keys } = await inWorkspace((transaction) => listApiKeys(transaction, { limit: 1000 }));
        return keys.find((key) => key.selector === selector)?.lastUsedAt;
      };
      const first = await lastUsed();
      expect(first).toMatch(/Z$/);
      expect(await lastUsed()).toBe(first);
      await inWorkspace((transaction) =>
        transaction.raw(`update api_keys set last_used_at = last_used_at - interval '2 minutes' where id = :id`, {
          id,
        }),
      );
      const later = await lastUsed();
      expect(Date.parse(later ?? '')).toBeGreaterThanOrEqual(Date.parse(first ?? ''));
    });

    it('does nothing for an unknown key', async () => {
      await expect(inWorkspace((transaction) => recordKeyUse(transaction, 'not-a-uuid'))).resolves.toBeUndefined();
    });
  });
});
