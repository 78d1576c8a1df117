import { randomUUID } from 'node:crypto';
import { operations } from '@decision/contracts';
import { confirmTotp, createSession, ensureAdmin, setTotp, type Transaction } from '@decision/persistence';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

let api: ObjectsApiUnderTest;
let admin: string;
let workspaceId: string;
beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('audited');
  admin = await api.makeKey(workspaceId, 'admin');
  for (const [slug, level] of [
    ['low', 1],
    ['high', 2],
  ])
    // prettier-ignore
    await call('POST', '/admin/environments', { slug, level });
});
afterAll(() => api.stop());

const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
  const answer = await api.call(admin, method, path, body);
  expect({ path, answer, ok: [200, 201].includes(answer.status) }).toMatchObject({ ok: true });
  return answer;
};
const idOf = ({ body }: Answer, of?: string): string =>
  String((of === undefined ? body : (body[of] as Record<string, unknown>))['id']);
const unique = (): string => `n-${randomUUID().slice(0, 8)}`;

interface Entry {
  readonly id: string;
  readonly kind: string;
  readonly action: string;
  readonly actor: { readonly id: string; readonly name: string };
  readonly subject: { readonly id: string; readonly name: string };
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
}
const entries = async (): Promise<readonly Entry[]> =>
  (await call('GET', '/admin/audit?limit=1000')).body['data'] as Entry[];

const table = { requestSchema: [{ key: 'a', type: 'number' }], responseSchema: [{ key: 'b', type: 'number' }] };
const publishRule = async (times = 1): Promise<string> => {
  const [id, slug] = [randomUUID(), unique()];
  for (let value = 1; value <= times; value += 1) {
    const responseSchema = [{ ...table.responseSchema[0], defaultValue: value }];
    await call('POST', '/admin/rules/import', { rule: { ...table, id, slug, responseSchema, _publish: true } });
  }
  return slug;
};
const flow = { nodes: [{ ref: 'in', type: 'origin' }, { ref: 'out', type: 'result' }], connections: [{ from: 'in', output: 'b', to: 'out' }] }; // prettier-ignore
const publishFlow = async (times = 1): Promise<{ readonly id: string; readonly slug: string }> => {
  const rule = await publishRule();
  const [id, slug] = [randomUUID(), unique()];
  for (let time = 1; time <= times; time += 1) {
    const nodes = [{ ...flow.nodes[0], rule, name: `Input ${time}` }, flow.nodes[1]];
    await call('POST', '/admin/flows/import', { flow: { ...flow, nodes, id, slug } });
  }
  return { id, slug };
};
const release = (rule: string, environment: string, version: number | 'latest' = 'latest'): Promise<Answer> =>
  call('POST', '/admin/releases', { rule, environment, version });
const guarded = async (): Promise<string> => {
  const slug = unique();
  await call('POST', '/admin/environments', { slug, approvers: ['role:admin'] });
  return slug;
};
const order = (...members: string[]): object => ({ content: JSON.stringify({ type: 'object', properties: { [unique()]: { enum: members } } }) }); // prettier-ignore
const writeValue = async (): Promise<string> => {
  const { body } = await call('POST', '/values', { values: { [unique()]: 1 } });
  return String(body[0]?.['id']);
};
const newTest = { name: 'one', request: { a: 1 }, response: { b: 1 }, critical: true };
const newUser = (): object => ({ email: `${randomUUID()}@example.com`, password: 'correct horse battery' });
const invite = async (): Promise<{ readonly id: string; readonly link: string }> =>
  (await call('POST', '/admin/users/invite', { email: `${randomUUID()}@example.com` })).body['invitation'] as { id: string; link: string }; // prettier-ignore

const inWorkspace = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  api.database.inWorkspace({ workspaceId, userGroups: undefined }, work);
/** A new user with a session. */
const signedIn = async (): Promise<{ readonly userId: string; readonly sessionId: string }> => {
  const userId = idOf(await call('POST', '/admin/users/create', newUser()), 'user');
  const session = { userId, method: 'password', expiresAt: '2099-01-01T00:00:00Z', address: null, userAgent: null } as const; // prettier-ignore
  return { userId, sessionId: await inWorkspace((transaction) => createSession(transaction, session)) };
};

/** Prepares a call of the operation, and answers the call with its expected audit entries, oldest first. */
type Scenario = () => Promise<readonly [call: () => Promise<unknown>, leaves: readonly string[]]>;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  importRule: () => Promise.resolve([() => publishRule(), ['rule create', 'rule publish']]),
  deleteRule: async () => {
    const id = idOf(await call('POST', '/admin/rules/import', { rule: { ...table, slug: unique() } }));
    return [() => call('DELETE', '/admin/rules/delete', { id }), ['rule delete']];
  },
  publishRuleVersion: async () => {
    const slug = await publishRule(2);
    return [() => call('POST', `/admin/rules/${slug}/versions/1/publish`), ['rule publish']];
  },
  createRuleTest: async () => {
    const slug = await publishRule();
    return [() => call('POST', `/admin/rules/${slug}/tests`, newTest), ['rule_test create']];
  },
  deleteRuleTest: async () => {
    const slug = await publishRule();
    const id = idOf(await call('POST', `/admin/rules/${slug}/tests`, newTest));
    return [() => call('DELETE', `/admin/rules/${slug}/tests/${id}`), ['rule_test delete']];
  },
  importFlow: async () => {
    const { id } = await publishFlow();
    return [
      () => call('POST', '/admin/flows/import', { flow: { id, name: 'Changed' } }),
      ['flow update', 'flow publish'],
    ];
  },
  deleteFlow: async () => {
    const { id } = await publishFlow();
    return [() => call('DELETE', '/admin/flows/delete', { id }), ['flow delete']];
  },
  publishFlowVersion: async () => {
    const { slug } = await publishFlow(2);
    return [() => call('POST', `/admin/flows/${slug}/versions/1/publish`), ['flow publish']];
  },
  createFlowTest: async () => {
    const { slug } = await publishFlow();
    return [() => call('POST', `/admin/flows/${slug}/tests`, newTest), ['flow_test create']];
  },
  deleteFlowTest: async () => {
    const { slug } = await publishFlow();
    const id = idOf(await call('POST', `/admin/flows/${slug}/tests`, newTest));
    return [() => call('DELETE', `/admin/flows/${slug}/tests/${id}`), ['flow_test delete']];
  },
  saveEnvironment: () =>
    Promise.resolve([() => call('POST', '/admin/environments', { slug: 'low', level: 1 }), ['environment update']]),
  createRelease: async () => {
    const slug = await publishRule();
    return [() => release(slug, 'low'), ['release create', 'release go_live']];
  },
  approveRelease: async () => {
    const environment = await guarded();
    const id = idOf(await release(await publishRule(), environment));
    return [() => call('POST', `/admin/releases/${id}/approve`), ['release approve', 'release go_live']];
  },
  promoteRelease: async () => {
    const id = idOf(await release(await publishRule(), 'low'));
    return [() => call('POST', `/admin/releases/${id}/promote`), ['release promote', 'release go_live']];
  },
  cancelRelease: async () => {
    const environment = await guarded();
    const id = idOf(await release(await publishRule(), environment));
    return [() => call('POST', `/admin/releases/${id}/cancel`), ['release cancel']];
  },
  rollBackRelease: async () => {
    const slug = await publishRule(2);
    await release(slug, 'low', 1);
    const id = idOf(await release(slug, 'low', 2));
    return [() => call('POST', `/admin/releases/${id}/rollback`), ['release roll_back', 'release put_back']];
  },
  reconcileReleases: () => Promise.resolve([() => call('POST', '/admin/releases/reconcile'), ['release reconcile']]),
  upsertObject: () =>
    Promise.resolve([
      () => call('PUT', '/objects', { name: unique(), ...order('x') }),
      ['object create', 'object write_values'],
    ]),
  deleteObject: async () => {
    const id = idOf(await call('PUT', '/objects', { name: unique(), ...order('x') }), 'object');
    return [() => call('DELETE', `/objects/${id}?values=detach`), ['object delete']];
  },
  writeValues: () => Promise.resolve([writeValue, ['value create']]),
  updateValue: async () => {
    const id = await writeValue();
    return [() => call('PUT', `/values/${id}`, { value: 2 }), ['value update']];
  },
  deleteValue: async () => {
    const id = await writeValue();
    return [() => call('DELETE', `/values?id=${id}`), ['value delete']];
  },
  syncValues: () =>
    Promise.resolve([
      () => call('POST', '/values/sync', { collection: unique(), values: { a: 1, b: 2 } }),
      ['value sync'],
    ]),
  createApiKey: () => Promise.resolve([() => call('POST', '/admin/keys', { name: 'CI' }), ['api_key create']]),
  revokeApiKey: async () => {
    const id = idOf(await call('POST', '/admin/keys', { name: 'CI' }));
    return [() => call('DELETE', `/admin/keys/${id}`), ['api_key revoke']];
  },
  rotateApiKey: async () => {
    const id = idOf(await call('POST', '/admin/keys', { name: 'CI' }));
    return [() => call('POST', `/admin/keys/${id}/rotate`, {}), ['api_key create', 'api_key rotate']];
  },
  upsertFolder: () => Promise.resolve([() => call('POST', '/admin/folders', { name: unique() }), ['folder create']]),
  deleteFolder: async () => {
    const id = idOf(await call('POST', '/admin/folders', { name: unique() }));
    return [() => call('DELETE', '/admin/folders', { id }), ['folder delete']];
  },
  createUser: () =>
    Promise.resolve([() => call('POST', '/admin/users/create', newUser()), ['user create', 'api_key create']]),
  updateUser: async () => {
    const id = idOf(await call('POST', '/admin/users/create', newUser()), 'user');
    return [() => call('PUT', `/admin/users/${id}`, { name: 'Ada' }), ['user update']];
  },
  deleteUser: async () => {
    const id = idOf(await call('POST', '/admin/users/create', newUser()), 'user');
    return [() => call('DELETE', `/admin/users/${id}`), ['user delete']];
  },
  inviteUser: () => Promise.resolve([invite, ['invitation create']]),
  withdrawInvitation: async () => {
    const { id } = await invite();
    return [() => call('DELETE', `/admin/users/invitations/${id}`), ['invitation withdraw']];
  },
  acceptInvitation: async () => {
    const path = new URL((await invite()).link).pathname.replace('/api/v1', '');
    const accept = () => call('POST', path, { password: 'correct horse battery' });
    return [accept, ['invitation accept', 'user create', 'api_key create']];
  },
  saveSsoMapping: async () => {
    await inWorkspace((transaction) => ensureAdmin(transaction, 'boss@example.com'));
    return [() => call('PUT', '/admin/sso-mapping', { mapping: {} }), ['sso_mapping create']];
  },
  createResetLink: async () => {
    const { userId } = await signedIn();
    return [() => call('POST', `/admin/users/${userId}/reset-link`), ['user create_link']];
  },
  removeSecondFactor: async () => {
    const { userId } = await signedIn();
    await inWorkspace(async (transaction) => {
      await setTotp(transaction, userId, 'GEZDGNBVGY3TQOJQ');
      await confirmTotp(transaction, userId, 1);
    });
    return [() => call('DELETE', `/admin/users/${userId}/second-factor`), ['user clear_totp']];
  },
  revokeSession: async () => {
    const { sessionId } = await signedIn();
    return [() => call('DELETE', `/admin/sessions/${sessionId}`), ['session revoke']];
  },
  revokeUserSessions: async () => {
    const { userId } = await signedIn();
    return [() => call('DELETE', `/admin/users/${userId}/sessions`), ['session revoke']];
  },
  createUserGroup: () =>
    Promise.resolve([() => call('POST', '/admin/users/groups', { name: unique() }), ['user_group create']]),
  saveRole: () =>
    Promise.resolve([() => call('POST', '/admin/roles', { name: unique(), entitlements: [] }), ['role create']]),
  deleteRole: async () => {
    const name = unique();
    await call('POST', '/admin/roles', { name, entitlements: [] });
    return [() => call('DELETE', `/admin/roles/${name}`), ['role delete']];
  },
};

/** Calls, of any method, that change nothing decided by a person. */
const WITHOUT_TRACE: Readonly<Record<string, string>> = {
  runRuleTests: 'Keeps only how the tests last went.',
  runFlowTests: 'Keeps only how the tests last went.',
};

const changing = operations
  .filter(({ service, method }) => service === 'objects-api' && method !== 'get')
  .map(({ id }) => id);

it('every call that can change something is tried here', () => {
  expect(changing.filter((id) => !(id in WITHOUT_TRACE)).sort()).toEqual(Object.keys(SCENARIOS).sort());
});

describe.each(Object.entries(SCENARIOS))('%s', (_id, prepare) => {
  it('leaves in the audit what it did, and who did it', async () => {
    const [perform, leaves] = await prepare();
    const known = new Set((await entries()).map(({ id }) => id));
    await perform();
    const left = (await entries()).filter(({ id }) => !known.has(id)).reverse();
    expect(left.map(({ kind, action }) => `${kind} ${action}`).sort()).toEqual([...leaves].sort());
    for (const { actor } of left) expect(actor.id).toMatch(/^(key:)?[0-9a-f-]{36}$|^invitation:/);
  });
});

const lastOf = async (kind: string, action: string): Promise<Entry | undefined> =>
  ((await call('GET', `/admin/audit?kind=${kind}&action=${action}&limit=1`)).body['data'] as Entry[])[0];

describe('an audit entry', () => {
  it('shows what an object was and is, with secrets masked and its values counted', async () => {
    const name = unique();
    const [was, is] = [{ size: 1, password: 'hunter2' }, { size: 2, password: 'hunter3' }].map((content) => JSON.stringify(content)); // prettier-ignore
    await call('PUT', '/objects', { name, content: was });
    await call('PUT', '/objects', { name, content: is });
    const changed = await lastOf('object', 'update');
    expect(changed).toMatchObject({
      subject: { name },
      before: { content: { size: 1, password: '[hidden]' } },
      after: { content: { size: 2, password: '[hidden]' } },
    });
    expect(Object.keys(changed?.after ?? {})).toEqual(['content']);
    await call('PUT', '/objects', { name, ...order('x', 'y') });
    expect((await lastOf('object', 'write_values'))?.after).toEqual({
      created: { count: 3, names: expect.arrayContaining([expect.stringMatching(/\.x$/)]) },
    });
    await call('DELETE', `/objects/${name}?values=detach`);
    expect((await lastOf('object', 'delete'))?.before).toMatchObject({ name, values: { detached: 3, archived: 0 } });
    expect(JSON.stringify(await entries())).not.toMatch(/hunter/);
  });

  it('is one for each chunk of a synchronisation, of bounded size, however many members; a chunk again says nothing', async () => {
    const collection = unique();
    const values = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`member-${index}`, index]));
    const chunk = { collection, sync_id: 'one', complete: false, values };
    await call('POST', '/values/sync', chunk);
    await call('POST', '/values/sync', chunk);
    await call('POST', '/values/sync', { collection, values: { 'member-7': 8, new: 1 }, permanently_delete: true });
    const left = (await entries()).filter(({ subject }) => subject.id === collection).reverse();
    const count = (number: number) => ({ count: number, names: expect.any(Array) });
    expect(left.map(({ after }) => after)).toEqual([
      { syncId: 'one', created: count(2_000) },
      { syncId: null, created: count(1), updated: count(1), deleted: count(1_999) },
    ]);
    expect(left.map(({ after }) => (after?.['created'] as { names: string[] }).names.length)).toEqual([50, 1]);
    const { body } = await call('GET', '/admin/audit?kind=value&action=create&limit=1000');
    expect(JSON.stringify(body)).not.toContain(collection);
  });

  it('shows the state that a release had and has, under a name that people read', async () => {
    const slug = await publishRule();
    const id = idOf(await release(slug, 'low'));
    await call('POST', `/admin/releases/${id}/cancel?withdraw=true`);
    expect(await lastOf('release', 'withdraw')).toMatchObject({
      subject: { id, name: `${slug} 1 in low` },
      before: { state: 'live', endedAt: null },
      after: { state: 'withdrawn', endedAt: expect.any(String) },
    });
  });

  it('shows the rule of a test and what it asks', async () => {
    const slug = await publishRule();
    await call('POST', `/admin/rules/${slug}/tests`, newTest);
    expect((await lastOf('rule_test', 'create'))?.after).toMatchObject({ rule: slug, ...newTest });
  });

  it('shows only what differs in an environment', async () => {
    await call('POST', '/admin/environments', { slug: 'low', level: 1, approval_scheme: 'all' });
    const { before, after } = (await lastOf('environment', 'update')) ?? {};
    expect([before, after]).toEqual([{ approvalScheme: 'any' }, { approvalScheme: 'all' }]);
  });

  it('shows that a list took over the content of a member that was deleted', async () => {
    const [part, whole] = [unique(), unique()];
    const { body } = await call('POST', '/values', { values: { [part]: 'a' } });
    await call('POST', '/values', { values: { [whole]: [{ $ref: part }] } });
    await call('DELETE', `/values?id=${String(body[0]?.['id'])}`);
    expect(await lastOf('value', 'update')).toMatchObject({ subject: { name: whole }, after: { content: ['a'] } });
  });

  it('a dry run and a call that is refused leave nothing', async () => {
    const before = (await entries()).length;
    await call('PUT', '/objects', { name: unique(), ...order('x'), dry_run: true });
    await call('POST', '/values/sync', { collection: unique(), values: { a: 1 }, dry_run: true });
    expect((await api.call(admin, 'POST', '/admin/releases', { rule: 'nothing', environment: 'low' })).status).toBe(
      404,
    );
    expect(await entries()).toHaveLength(before);
  });
});

it.each([
  ['0226-08-31T18:32:12+17:20', 400],
  ['0226-08-31T18:32:12-16:00', 400],
  ['0000-06-01T00:00:00Z', 400],
  ['0001-01-01T00:00:00+00:01', 400],
  ['9999-12-31T23:59:59-00:01', 400],
  ['2026-06-30T23:59:60Z', 400],
  ['2026-02-30T00:00:00Z', 400],
  ['2026-01-15T24:00:00Z', 400],
  ['2026-01-15T09:30:00', 400],
  ['2026-01-15T09:30:00.1234567890123Z', 400],
  ['infinity', 400],
  ['0226-08-31T18:32:12+15:59', 200],
  ['0001-01-01T00:00:00Z', 200],
  ['9999-12-31T23:59:59.999Z', 200],
  ['2024-02-29t23:59:59.123456789z', 200],
])('a list of changes since and until %s answers %i', async (time, expected) => {
  for (const name of ['since', 'until']) {
    const { status, body } = await api.call(admin, 'GET', `/admin/audit?${name}=${encodeURIComponent(time)}`);
    expect([name, status]).toEqual([name, expected]);
    if (expected === 400)
      expect(body).toMatchObject({
        code: 'invalid_request',
        problems: expect.arrayContaining([expect.objectContaining({ path: `/${name}` })]),
      });
  }
});

it.each([
  ['PUT', '/objects', { name: 'Timed', content: '{"a": 1}' }, 'expected_updated_at'],
  ['POST', '/admin/rules/import', { rule: { id: randomUUID() } }, 'expected_updated_at'],
  ['POST', '/admin/keys', { name: 'Timed' }, 'expires_at'],
])('a time that the database cannot hold is refused by %s %s too', async (method, path, body, field) => {
  for (const time of ['0226-08-31T18:32:12+17:20', '9999-12-31T23:59:59-15:00'])
    expect(await api.call(admin, method, path, { ...body, [field]: time })).toMatchObject({
      status: 400,
      body: {
        problems: expect.arrayContaining([
          expect.objectContaining({ path: `/${field}`, message: expect.stringContaining('years 1 to 9999') }),
        ]),
      },
    });
});
