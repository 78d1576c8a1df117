import { randomUUID } from 'node:crypto';
import { findReleaseForChange, findAssetPointer, goLive, recordApproval } from '@decision/persistence';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let developer: string;

beforeAll(async () => {
  api = await startObjectsApi();
  await openWorkspace();
});
afterAll(() => api.stop());

/** Every group of tests has its own workspace, and so its own environments. */
const openWorkspace = async (): Promise<void> => {
  workspaceId = await api.makeWorkspace(`w-${randomUUID().slice(0, 8)}`);
  admin = await api.makeKey(workspaceId, 'admin');
  developer = await api.makeKey(workspaceId, 'developer');
};

const call = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  api.call(key, method, `/admin${path}`, body);
const saveEnvironment = (body: object, key = admin): Promise<Answer> => call(key, 'POST', '/environments', body);
const release = (body: object, key = admin): Promise<Answer> => call(key, 'POST', '/releases', body);
const act = (id: unknown, action: string, key = admin): Promise<Answer> =>
  call(key, 'POST', `/releases/${String(id)}/${action}`);
const idOf = ({ body }: Answer): string => String(body['id']);

/** A rule with this many published versions; version n answers n. */
const publishRule = async (versions = 1, key = admin): Promise<{ id: string; slug: string }> => {
  const id = randomUUID();
  const slug = `rule-${id.slice(0, 8)}`;
  for (let version = 1; version <= versions; version += 1) {
    const responseSchema = [{ key: 'b', type: 'number', defaultValue: version }];
    const rule = { id, slug, requestSchema: [{ key: 'a', type: 'number' }], responseSchema, _publish: true };
    expect(await call(key, 'POST', '/rules/import', { rule })).toMatchObject({ status: 200, body: { version } });
  }
  return { id, slug };
};

const pinsOf = async (slug: string): Promise<Readonly<Record<string, number>>> => {
  const pointer = await api.database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) =>
    findAssetPointer(transaction, 'rule', slug),
  );
  return Object.fromEntries(Object.entries(pointer?.pins ?? {}).map(([name, { version }]) => [name, version]));
};

describe('environments', () => {
  beforeAll(openWorkspace);

  it('are created with defaults, changed in part by slug, and listed from the lowest level up', async () => {
    expect(await saveEnvironment({ slug: 'production', level: 3 })).toMatchObject({
      status: 200,
      body: { name: 'production', level: 3, approvers: [], approval_scheme: 'any', direct_releases: true },
    });
    const staging = await saveEnvironment({ slug: 'staging', name: 'Staging', level: 2, approvers: ['role:admin'] });
    expect(await saveEnvironment({ slug: 'staging', name: 'Stage' })).toMatchObject({
      body: { id: staging.body['id'], name: 'Stage', level: 2, approvers: ['role:admin'] },
    });
    expect(await saveEnvironment({ slug: 'staging', approvers: [], approval_scheme: 'all' })).toMatchObject({
      body: { name: 'Stage', level: 2, approvers: [], approval_scheme: 'all', direct_releases: true },
    });
    const { body } = await call(admin, 'GET', '/environments');
    expect(body).toMatchObject({ data: [{ slug: 'staging' }, { slug: 'production' }], next_cursor: null });
  });

  it.each([
    [{ slug: 'latest' }],
    [{ slug: '12' }],
    [{ slug: 'Prod' }],
    [{ slug: '__proto__' }],
    [{ slug: 'a', level: 0 }],
    [{ slug: 'a', approval_scheme: 'most' }],
    [{ slug: 'a', approvers: ['somebody'] }],
    [{ slug: 'a', approvers: ['role:nobody'] }],
    [{ slug: 'a', approvers: [`key:${randomUUID()}`] }],
    [{ slug: 'a', approvers: ['key:not-an-id'] }],
    [{ slug: 'a', other: 1 }],
  ])('refuses %j', async (body) => {
    expect(await saveEnvironment(body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('are changed by an unrestricted admin only', async () => {
    const restricted = await api.makeKey(workspaceId, 'admin', ['north']);
    for (const key of [developer, restricted]) {
      expect(await saveEnvironment({ slug: 'mine' }, key)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    expect((await call(restricted, 'GET', '/environments')).body['data']).toHaveLength(2);
  });
});

describe('a release', () => {
  beforeAll(async () => {
    await openWorkspace();
    await saveEnvironment({ slug: 'open' });
    await saveEnvironment({ slug: 'guarded', approvers: ['role:admin', 'role:developer'], approval_scheme: 'all' });
    await saveEnvironment({ slug: 'eased', approvers: ['role:admin', 'role:developer'], approval_scheme: 'any' });
  });

  it('is live at once without approvers, is announced, and supersedes what was live', async () => {
    const { id, slug } = await publishRule(2);
    api.announced.length = 0;
    const first = await release({ rule: slug, version: 1, environment: 'open', note: 'go' });
    expect(first).toMatchObject({
      status: 200,
      body: { state: 'live', version: 1, environment: 'open', rule: { id, slug }, source: 'direct', note: 'go' },
    });
    expect(await pinsOf(slug)).toEqual({ open: 1 });
    expect(api.announced).toEqual([['release', [`rule:${workspaceId}:${slug}`]]]);
    const second = await release({ rule: id, environment: 'open' });
    expect(second.body).toMatchObject({ state: 'live', version: 2, previous_release_id: first.body['id'] });
    expect(await pinsOf(slug)).toEqual({ open: 2 });
    const { body } = await call(admin, 'GET', `/releases?rule=${slug}`);
    expect(body['data']).toMatchObject([{ state: 'live' }, { state: 'superseded', ended_at: expect.any(String) }]);
  });

  it('sent again is the same release', async () => {
    const { slug } = await publishRule();
    const body = { id: randomUUID(), rule: slug, environment: 'open' };
    const first = await release(body);
    expect(await release(body)).toEqual(first);
    expect(await release({ rule: slug, environment: 'open' })).toEqual(first);
    const other = await publishRule();
    expect(await release({ ...body, rule: other.slug })).toMatchObject({ body: { code: 'release_conflict' } });
  });

  it('waits for each approver under "all", and the pin moves with the last', async () => {
    const { slug } = await publishRule();
    const made = await release({ rule: slug, environment: 'guarded' });
    expect(made.body).toMatchObject({ state: 'pending', waiting_for: ['role:admin', 'role:developer'] });
    expect(await pinsOf(slug)).toEqual({});
    api.announced.length = 0;
    for (let time = 0; time < 2; time += 1)
      expect((await act(made.body['id'], 'approve', developer)).body).toMatchObject({
        state: 'pending',
        waiting_for: ['role:admin'],
        approvals: [{ stands_for: ['role:developer'] }],
      });
    expect(api.announced).toEqual([]);
    expect((await act(made.body['id'], 'approve')).body).toMatchObject({ state: 'live', waiting_for: [] });
    expect(await pinsOf(slug)).toEqual({ guarded: 1 });
    expect(api.announced).toHaveLength(1);
    expect((await act(made.body['id'], 'approve')).body).toMatchObject({ state: 'live' });
    expect(api.announced).toHaveLength(1);
  });

  it('approved by the last two at once goes live once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { slug } = await publishRule();
      const made = await release({ rule: slug, environment: 'guarded' });
      api.announced.length = 0;
      const approved = await Promise.all([admin, developer].map((key) => act(made.body['id'], 'approve', key)));
      expect(approved.map(({ body }) => body['state']).sort()).toEqual(['live', 'pending']);
      expect(await pinsOf(slug)).toEqual({ guarded: 1 });
      expect(api.announced).toHaveLength(1);
    }
  });

  it('moves its pin with the last approval or neither: a failure between them leaves both undone', async () => {
    const { slug } = await publishRule();
    const made = await release({ rule: slug, environment: 'eased' });
    const id = idOf(made);
    const approving = api.database.inWorkspace(
      { workspaceId, userGroups: undefined, actor: 'a' },
      async (transaction) => {
        const pending = await findReleaseForChange(transaction, id);
        await recordApproval(transaction, id, ['role:admin']);
        if (pending !== undefined) await goLive(transaction, pending);
        throw new RangeError('on purpose');
      },
    );
    await expect(approving).rejects.toThrow('on purpose');
    expect(await pinsOf(slug)).toEqual({});
    expect((await call(admin, 'GET', `/releases?rule=${slug}`)).body).toMatchObject({
      data: [{ id, state: 'pending', approvals: [] }],
    });
  });

  it('waits for one approver under "any"', async () => {
    const { slug } = await publishRule();
    const made = await release({ rule: slug, environment: 'eased' });
    expect((await act(made.body['id'], 'approve', developer)).body).toMatchObject({ state: 'live' });
  });

  it('is approved by approvers only, and keeps those with which it was made', async () => {
    const { slug } = await publishRule();
    await saveEnvironment({ slug: 'strict', approvers: ['role:admin'] });
    const made = await release({ rule: slug, environment: 'strict' });
    await saveEnvironment({ slug: 'strict', approvers: ['role:developer'] });
    expect(await act(made.body['id'], 'approve', developer)).toMatchObject({
      status: 403,
      body: { code: 'not_an_approver', approvers: ['role:admin'] },
    });
    const editor = await api.makeKey(workspaceId, 'editor');
    expect(await act(made.body['id'], 'approve', editor)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await act(made.body['id'], 'approve')).body).toMatchObject({ state: 'live' });
  });

  it('is approved by the keys that take the place of the key it waits for, and by no other', async () => {
    const made = (await call(admin, 'POST', '/keys', { name: 'Approver', role: 'developer' })).body;
    const approvers = [`key:${String(made['id'])}`];
    await saveEnvironment({ slug: 'keyed', approvers });
    const { slug } = await publishRule(2);
    const waiting = await release({ rule: slug, version: 1, environment: 'keyed' });
    const rotate = async (id: unknown) =>
      (await call(admin, 'POST', `/keys/${String(id)}/rotate`, { overlap_seconds: 0 })).body;
    const second = await rotate(made['id']);
    const third = await rotate(second['id']);
    const stranger = (await call(admin, 'POST', '/keys', { name: 'Stranger', role: 'developer' })).body;
    expect(await act(waiting.body['id'], 'approve', String((await rotate(stranger['id']))['api_key']))).toMatchObject({
      status: 403,
      body: { code: 'not_an_approver', approvers },
    });
    expect((await act(waiting.body['id'], 'approve', String(third['api_key']))).body).toMatchObject({
      state: 'live',
      approvals: [{ approved_by: third['id'], stands_for: approvers }],
    });
    const next = await release({ rule: slug, version: 2, environment: 'keyed' });
    expect((await act(next.body['id'], 'approve', String(third['api_key']))).body).toMatchObject({ state: 'live' });
  });

  it('keeps another version of the rule out while it waits', async () => {
    const { slug } = await publishRule(2);
    const made = await release({ rule: slug, version: 1, environment: 'guarded' });
    expect(await release({ rule: slug, version: 2, environment: 'guarded' })).toMatchObject({
      status: 409,
      body: { code: 'release_pending', release_id: made.body['id'] },
    });
    expect((await act(made.body['id'], 'cancel')).body).toMatchObject({ state: 'cancelled' });
    expect((await act(made.body['id'], 'cancel')).body).toMatchObject({ state: 'cancelled' });
    expect(await act(made.body['id'], 'approve')).toMatchObject({ status: 409, body: { state: 'cancelled' } });
    expect((await release({ rule: slug, version: 2, environment: 'guarded' })).status).toBe(200);
  });

  it.each([
    [{ rule: 'unknown', environment: 'open' }, 404, 'rule_not_found'],
    [{ rule: randomUUID(), environment: 'open' }, 404, 'rule_not_found'],
    [{ environment: 'unknown' }, 404, 'environment_not_found'],
    [{ environment: 'open', version: 9 }, 404, 'version_not_found'],
    [{ environment: 'open', version: 0 }, 400, 'invalid_request'],
    [{ environment: 'open', version: 2 ** 31 }, 400, 'invalid_request'],
    [{}, 400, 'invalid_request'],
  ])('of %j is refused', async (body, status, code) => {
    const { slug } = await publishRule();
    expect(await release({ rule: slug, ...body })).toMatchObject({ status, body: { code } });
  });

  it('is refused for a draft', async () => {
    const { body } = await call(admin, 'POST', '/rules/import', { rule: { name: 'Draft' } });
    expect(await release({ rule: body['slug'], environment: 'open' })).toMatchObject({
      status: 404,
      body: { code: 'rule_not_published' },
    });
  });

  it('keeps its rule from being deleted or unpublished until it is withdrawn', async () => {
    const { id, slug } = await publishRule();
    const made = await release({ rule: slug, environment: 'open' });
    const refusal = {
      status: 409,
      body: { code: 'rule_released', releases: [{ id: made.body['id'], state: 'live' }] },
    };
    const remove = () => call(admin, 'DELETE', '/rules/delete', { id });
    const unpublish = () => call(admin, 'POST', '/rules/import', { rule: { id, _unpublish: true } });
    expect(await remove()).toMatchObject(refusal);
    expect(await unpublish()).toMatchObject(refusal);
    expect(await act(made.body['id'], 'cancel')).toMatchObject({ status: 409, body: { code: 'release_conflict' } });
    expect(await pinsOf(slug)).toEqual({ open: 1 });
    expect((await act(made.body['id'], 'cancel?withdraw=true')).body).toMatchObject({ state: 'withdrawn' });
    expect(await pinsOf(slug)).toEqual({});
    expect((await unpublish()).status).toBe(200);
    expect((await remove()).status).toBe(200);
  });

  it('is not found if the key does not see its rule', async () => {
    const { slug } = await publishRule();
    const id = idOf(await release({ rule: slug, environment: 'open' }));
    const restricted = await api.makeKey(workspaceId, 'admin', ['north']);
    const foreign = await api.makeKey(await api.makeWorkspace('foreign'), 'admin');
    for (const key of [restricted, foreign]) {
      expect((await call(key, 'GET', '/releases')).body['data']).toEqual([]);
      for (const action of ['approve', 'promote', 'cancel', 'rollback'])
        expect(await act(id, action, key)).toMatchObject({ status: 404, body: { code: 'release_not_found' } });
    }
    expect(await release({ rule: slug, environment: 'open' }, restricted)).toMatchObject({
      body: { code: 'rule_not_found' },
    });
  });

  it.each(['approve', 'promote', 'cancel', 'rollback'])(
    'of an id that cannot be one: %s answers 404',
    async (action) => {
      expect(await act('not-an-id', action)).toMatchObject({ status: 404, body: { code: 'release_not_found' } });
    },
  );
});

describe('promotion', () => {
  beforeAll(async () => {
    await openWorkspace();
    await saveEnvironment({ slug: 'dev', level: 1, direct_releases: false });
    await saveEnvironment({ slug: 'qa', level: 5, direct_releases: false, approvers: ['role:admin'] });
    await saveEnvironment({ slug: 'eu', level: 9, direct_releases: false });
    await saveEnvironment({ slug: 'us', level: 9, direct_releases: false });
  });

  it('goes from level to level, and there is no other way up', async () => {
    const { slug } = await publishRule();
    expect(await release({ rule: slug, environment: 'eu' })).toMatchObject({
      status: 409,
      body: { code: 'release_not_direct', promote_from: ['qa'] },
    });
    const dev = await release({ rule: slug, environment: 'dev' });
    expect(dev.body).toMatchObject({ state: 'live' });
    const qa = await act(dev.body['id'], 'promote');
    expect(qa.body).toMatchObject({
      state: 'pending',
      environment: 'qa',
      source: 'promotion',
      source_release_id: dev.body['id'],
    });
    expect(await act(dev.body['id'], 'promote')).toEqual(qa);
    expect(await act(qa.body['id'], 'promote')).toMatchObject({ status: 409, body: { state: 'pending' } });
    await act(qa.body['id'], 'approve');
    expect(await act(qa.body['id'], 'promote')).toMatchObject({ status: 409, body: { code: 'release_conflict' } });
    expect(await act(qa.body['id'], 'promote?environment=dev')).toMatchObject({
      status: 404,
      body: { code: 'environment_not_found', environments: ['eu', 'us'] },
    });
    expect((await act(qa.body['id'], 'promote?environment=us')).body).toMatchObject({
      state: 'live',
      environment: 'us',
    });
    expect(await pinsOf(slug)).toEqual({ dev: 1, qa: 1, us: 1 });
  });

  it('ends at the top', async () => {
    const { slug } = await publishRule();
    const dev = await release({ rule: slug, environment: 'dev' });
    const qa = await act(dev.body['id'], 'promote');
    await act(qa.body['id'], 'approve');
    const top = await act(qa.body['id'], 'promote?environment=eu');
    expect(await act(top.body['id'], 'promote')).toMatchObject({ status: 409, body: { code: 'release_conflict' } });
  });
});

describe('rolling back', () => {
  beforeAll(async () => {
    await openWorkspace();
    await saveEnvironment({ slug: 'prod', approvers: ['role:admin'] });
  });

  const goLive = async (rule: string, version: number): Promise<string> => {
    const id = idOf(await release({ rule, version, environment: 'prod' }));
    expect((await act(id, 'approve')).body).toMatchObject({ state: 'live' });
    return id;
  };

  it('puts back what was live before, without approval, step by step', async () => {
    const { slug } = await publishRule(3);
    const first = await goLive(slug, 1);
    await goLive(slug, 2);
    const third = await goLive(slug, 3);
    api.announced.length = 0;
    const back = await act(third, 'rollback');
    expect(back.body).toMatchObject({
      state: 'live',
      version: 2,
      source: 'rollback',
      source_release_id: third,
      approvers: [],
    });
    expect(await pinsOf(slug)).toEqual({ prod: 2 });
    expect(api.announced).toEqual([['release', [`rule:${workspaceId}:${slug}`]]]);
    expect(await act(third, 'rollback')).toEqual(back);
    expect(api.announced).toHaveLength(1);
    const further = await act(back.body['id'], 'rollback');
    expect(further.body).toMatchObject({ state: 'live', version: 1 });
    expect(await act(further.body['id'], 'rollback')).toMatchObject({
      status: 409,
      body: { code: 'release_conflict' },
    });
    expect(await act(first, 'rollback')).toMatchObject({ status: 409, body: { state: 'superseded' } });
  });

  it('is possible while another version waits', async () => {
    const { slug } = await publishRule(3);
    await goLive(slug, 1);
    const second = await goLive(slug, 2);
    const waiting = idOf(await release({ rule: slug, version: 3, environment: 'prod' }));
    expect((await act(second, 'rollback')).body).toMatchObject({ version: 1 });
    expect((await act(waiting, 'approve')).body).toMatchObject({ state: 'live', version: 3 });
    expect(await pinsOf(slug)).toEqual({ prod: 3 });
  });
});

it('keeps one pin in each environment under changes from all sides, and it is a version that was released', async () => {
  await openWorkspace();
  await saveEnvironment({ slug: 'busy' });
  const { slug } = await publishRule(4);
  const live = idOf(await release({ rule: slug, version: 1, environment: 'busy' }));
  const answers = await Promise.all([
    ...Array.from({ length: 24 }, (_, index) => release({ rule: slug, version: 1 + (index % 4), environment: 'busy' })),
    ...Array.from({ length: 6 }, () => act(live, 'rollback')),
    ...Array.from({ length: 6 }, () => publishOnce(slug)),
  ]);
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  const { body } = await call(admin, 'GET', `/releases?rule=${slug}&state=live`);
  expect(body['data']).toHaveLength(1);
  expect(await pinsOf(slug)).toEqual({ busy: (body['data'] as Record<string, unknown>[])[0]?.['version'] });
});

const publishOnce = async (slug: string): Promise<Answer> => {
  const { body } = await call(admin, 'GET', `/rules/list?slug=${slug}`);
  return call(admin, 'POST', '/rules/import', { rule: { id: body[0]?.['id'], _publish: true } });
};

describe('reconciling', () => {
  it('announces every pinned slug in one call and says how many', async () => {
    await openWorkspace();
    await saveEnvironment({ slug: 'one' });
    await saveEnvironment({ slug: 'two' });
    const [a, b] = [await publishRule(), await publishRule()];
    for (const [rule, environment] of [
      [a.slug, 'one'],
      [a.slug, 'two'],
      [b.slug, 'two'],
    ])
      await release({ rule, environment });
    api.announced.length = 0;
    expect(await call(admin, 'POST', '/releases/reconcile')).toMatchObject({
      status: 200,
      body: { reconciled: 3, rules: 2 },
    });
    expect(api.announced).toEqual([['release', [a.slug, b.slug].sort().map((slug) => `rule:${workspaceId}:${slug}`)]]);
  });

  it('is for unrestricted admins, and if nothing is live there is nothing to do', async () => {
    await openWorkspace();
    expect((await call(developer, 'POST', '/releases/reconcile')).status).toBe(403);
    const restricted = await api.makeKey(workspaceId, 'admin', ['north']);
    expect((await call(restricted, 'POST', '/releases/reconcile')).status).toBe(403);
    api.announced.length = 0;
    expect((await call(admin, 'POST', '/releases/reconcile')).body).toEqual({ reconciled: 0, rules: 0, flows: 0 });
    expect(api.announced).toEqual([]);
  });
});
