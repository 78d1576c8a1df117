import { builtInRoles } from '@decision/contracts';
import { ensureWorkspace } from '../../src';
import { asOwner } from '../as-owner';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

describe('workspaces', () => {
  let workspace: TestWorkspace;
  beforeAll(async () => {
    workspace = await openTestWorkspace('workspaces');
  });
  afterAll(() => workspace.close());

  const rolesOf = async (workspaceId: string): Promise<Record<string, unknown>> =>
    Object.fromEntries(
      (await asOwner(workspace.url, 'select name, entitlements from roles where workspace_id = $1', [workspaceId])).map(
        (row) => [row.name, row.entitlements],
      ),
    );

  describe('ensureWorkspace', () => {
    it('makes a workspace with the built-in roles, once', async () => {
      const first = await ensureWorkspace(workspace.url, { slug: 'acme', name: 'Acme' });
      expect(first).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), created: true });
      expect(await rolesOf(first.id)).toEqual(builtInRoles);
      expect(await ensureWorkspace(workspace.url, { slug: 'acme', name: 'Other' })).toEqual({
        id: first.id,
        created: false,
      });
      expect(await asOwner(workspace.url, 'select name from workspaces where id = $1', [first.id])).toEqual([
        { name: 'Acme' },
      ]);
    });

    it('called ten times at once makes one', async () => {
      const made = await Promise.all(
        Array.from({ length: 10 }, () => ensureWorkspace(workspace.url, { slug: 'rush', name: 'Rush' })),
      );
      expect(new Set(made.map(({ id }) => id)).size).toBe(1);
      expect(made.filter(({ created }) => created)).toHaveLength(1);
    });

    it('brings built-in roles up to date and leaves an operator’s roles alone', async () => {
      const { id } = await ensureWorkspace(workspace.url, { slug: 'older', name: 'Older' });
      await asOwner(
        workspace.url,
        `update roles set entitlements = '{solve}' where workspace_id = $1 and name = 'admin'`,
        [id],
      );
      await asOwner(
        workspace.url,
        `update roles set entitlements = '{solve}', built_in = false where workspace_id = $1 and name = 'viewer'`,
        [id],
      );
      await asOwner(
        workspace.url,
        `insert into roles (workspace_id, name, entitlements) values ($1, 'auditor', '{rules.read}')`,
        [id],
      );
      await ensureWorkspace(workspace.url, { slug: 'older', name: 'Older' });
      expect(await rolesOf(id)).toEqual({ ...builtInRoles, viewer: ['solve'], auditor: ['rules.read'] });
    });

    it.each(['Upper', 'with space', '', '-a', "a'b"])('refuses the slug "%s"', async (slug) => {
      await expect(ensureWorkspace(workspace.url, { slug, name: 'X' })).rejects.toMatchObject({
        code: 'internal_error',
      });
    });
  });
});
