import { randomUUID } from 'node:crypto';
import {
  type AuditEntry,
  type AuditFilters,
  createApiKey,
  deleteObject,
  deleteAsset,
  deleteValue,
  endRelease,
  goLive,
  insertObject,
  insertRelease,
  insertAsset,
  listAudit,
  publishAsset,
  publishVersionAgain,
  putBack,
  recordApproval,
  recordChange,
  revokeApiKey,
  saveEnvironment,
  saveTestSuite,
  saveValues,
  type Transaction,
  unpublishAsset,
  updateObject,
  updateAsset,
  updateValue,
  type WorkspaceAccess,
  writeManagedValues,
} from '../../src';
import { asOwner } from '../as-owner';
import { newApiKey, newRule, parsedField } from '../assets/rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

describe('the audit', () => {
  let workspace: TestWorkspace;
  beforeAll(async () => {
    workspace = await openTestWorkspace('audit');
  });
  afterAll(() => workspace.close());

  const as = <T>(access: WorkspaceAccess, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    workspace.database.inWorkspace(access, work);
  const here = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => as(workspace.access, work);
  const read = async (filters: AuditFilters, access = workspace.access): Promise<readonly AuditEntry[]> =>
    (await as(access, (transaction) => listAudit(transaction, filters, { limit: 1_000 }))).entries;
  const shown = (entries: readonly AuditEntry[]): unknown[] =>
    entries
      .map(({ kind, action, subjectName, before, after }) => ({ kind, action, subjectName, before, after }))
      .reverse();

  it('records who did what, when and from where', async () => {
    const access = { ...workspace.access, origin: { address: '192.0.2.7', requestId: 'r-1' } };
    const before = Date.now();
    const key = await as(access, (transaction) => createApiKey(transaction, newApiKey({ name: 'CI' })));
    if (key.status !== 'created') throw new Error(key.status);
    const byKey = { ...access, actor: key.key.id };
    await as(byKey, (transaction) => insertAsset(transaction, 'rule', newRule({ slug: 'said' })));
    const [entry] = await read({ actor: key.key.id });
    expect(entry).toMatchObject({
      actor: key.key.id,
      actorName: 'CI',
      address: '192.0.2.7',
      requestId: 'r-1',
      kind: 'rule',
      action: 'create',
      subjectName: 'said',
      before: null,
      after: { slug: 'said', name: 'Parcel price' },
    });
    expect(Math.abs(Date.parse(entry?.createdAt ?? '') - before)).toBeLessThan(60_000);
  });

  it('has every change of a rule', async () => {
    const rule = newRule({ slug: 'audited' });
    const versionId = randomUUID();
    await here((transaction) => insertAsset(transaction, 'rule', rule));
    await here((transaction) => updateAsset(transaction, 'rule', rule.id, { name: 'New', slug: 'renamed' }));
    for (let time = 0; time < 2; time += 1)
      await here((transaction) => publishAsset(transaction, 'rule', rule.id, { versionId }));
    await here((transaction) => unpublishAsset(transaction, 'rule', rule.id));
    await here((transaction) => deleteAsset(transaction, 'rule', rule.id));
    expect(shown(await read({ subjectId: rule.id }))).toEqual([
      { kind: 'rule', action: 'create', subjectName: 'audited', before: null, after: expect.any(Object) },
      {
        kind: 'rule',
        action: 'update',
        subjectName: 'renamed',
        before: { name: 'Parcel price', slug: 'audited' },
        after: { name: 'New', slug: 'renamed' },
      },
      { kind: 'rule', action: 'publish', subjectName: 'renamed', before: null, after: expect.objectContaining({ version: 1, versionId }) }, // prettier-ignore
      { kind: 'rule', action: 'unpublish', subjectName: 'renamed', before: null, after: null },
      { kind: 'rule', action: 'delete', subjectName: 'renamed', before: expect.any(Object), after: null },
    ]);
  });

  it('has every change of a value, and no secret', async () => {
    const write = (content: string) =>
      here((transaction) => saveValues(transaction, [{ name: 'mail.password', type: 'string', content }], { newUserGroups: [] })); // prettier-ignore
    const saved = await write('first-secret');
    await write('second-secret');
    const id = saved.status === 'saved' ? (saved.values[0]?.id ?? '') : '';
    await here((transaction) => updateValue(transaction, id, { name: 'mail.host', content: { type: 'string', value: 'h', refersTo: [] } })); // prettier-ignore
    await here((transaction) => deleteValue(transaction, id));
    const entries = await read({ subjectId: id });
    expect(entries.map(({ action }) => action)).toEqual(['delete', 'update', 'update', 'create']);
    expect(JSON.stringify(entries.slice(2))).not.toMatch(/(first|second)-secret/);
    expect(entries[2]).toMatchObject({ before: { content: '[hidden]' }, after: { content: '[hidden]' } });
  });

  it('has every change of a key, and never its hash', async () => {
    const made = await here((transaction) => createApiKey(transaction, newApiKey()));
    if (made.status !== 'created') throw new Error(made.status);
    for (let time = 0; time < 2; time += 1) await here((transaction) => revokeApiKey(transaction, made.key.id));
    const entries = await read({ subjectId: made.key.id });
    expect(entries.map(({ action }) => action)).toEqual(['revoke', 'create']);
    expect(entries[0]).toMatchObject({ before: { revokedAt: null }, after: { revokedAt: expect.any(String) } });
    expect(JSON.stringify(entries)).not.toMatch(/(?:ab){8}|hash/i);
  });

  it('has every change of an object, with its content as a document, and of its values one entry with counts', async () => {
    const object = (content: string) => ({ name: 'Order', content, contentType: 'json_object', parsedFields: [parsedField('a')], userGroups: [] }) as const; // prettier-ignore
    const made = await here((transaction) => insertObject(transaction, object('{"a":1}')));
    const id = made.status === 'inserted' ? made.object.id : '';
    const large = JSON.stringify({ a: 'x'.repeat(70_000) });
    await here((transaction) => updateObject(transaction, id, object(large)));
    const create = Array.from({ length: 60 }, (_, index) => ({ path: 'a', member: `"${index}"`, name: `a.${index}`, type: 'string', content: `${index}`, metadata: {} }) as const); // prettier-ignore
    const plan = { create, change: [], unchanged: 0, archive: [], release: [] };
    await here((transaction) => writeManagedValues(transaction, { id, userGroups: [] }, plan));
    const nothing = { ...plan, create: [] };
    await here((transaction) => writeManagedValues(transaction, { id, userGroups: [] }, nothing));
    await here((transaction) => deleteObject(transaction, id, 'archive'));
    const omitted = { omitted_bytes: expect.any(Number), sha256: expect.any(String) };
    expect(shown(await read({ subjectId: id }))).toEqual([
      { kind: 'object', action: 'create', subjectName: 'Order', before: null, after: expect.objectContaining({ content: { a: 1 } }) }, // prettier-ignore
      { kind: 'object', action: 'update', subjectName: 'Order', before: { content: { a: 1 } }, after: { content: omitted } }, // prettier-ignore
      {
        ...{ kind: 'object', action: 'write_values', subjectName: 'Order', before: null },
        after: { created: { count: 60, names: create.slice(0, 50).map(({ name }) => name) } },
      },
      {
        ...{ kind: 'object', action: 'delete', subjectName: 'Order', after: null },
        before: expect.objectContaining({ values: { detached: 0, archived: 60 } }),
      },
    ]);
    const values = await read({ kind: 'value' });
    expect(values.filter(({ subjectName }) => subjectName.startsWith('a.'))).toEqual([]);
  });

  it('has every change of a release, each once, for the groups of its rule', async () => {
    const rule = newRule({ slug: 'released', userGroups: ['sales'] });
    const [first, second, back, versionId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const settings = { slug: 'prod', name: 'P', level: 1, approvers: ['role:admin'], approvalScheme: 'any', directReleases: true } as const; // prettier-ignore
    await here(async (transaction) => {
      await insertAsset(transaction, 'rule', rule);
      await publishAsset(transaction, 'rule', rule.id, { versionId });
      const saved = await saveEnvironment(transaction, settings);
      if (saved.status !== 'saved') throw new Error(saved.status);
      for (const [id, source] of [
        [first, 'direct'],
        [second, 'promotion'],
      ] as const) {
        // prettier-ignore
        const given = { id, assetId: rule.id, versionId, environment: saved.environment, source, sourceReleaseId: null, note: null }; // prettier-ignore
        const made = await insertRelease(transaction, given);
        if (made.status !== 'inserted') throw new Error(made.status);
        for (let time = 0; time < 2; time += 1) await recordApproval(transaction, id, ['role:admin']);
        await goLive(transaction, made.release);
      }
      await putBack(transaction, { id: back, instead: second, previous: first });
      await endRelease(transaction, back, 'withdrawn');
      await endRelease(transaction, back, 'withdrawn');
    });
    const left = await read({ kind: 'release' }, workspace.restrictedTo('sales'));
    expect(left.map(({ action, subjectId }) => [action, [first, second, back].findIndex((id) => id === subjectId)]).reverse()).toEqual([
      ...[['create', 0], ['approve', 0], ['go_live', 0]],
      ...[['promote', 1], ['approve', 1], ['supersede', 0], ['go_live', 1]],
      ...[['roll_back', 1], ['put_back', 2], ['withdraw', 2]],
    ]); // prettier-ignore
    expect(await read({ kind: 'release' }, workspace.restrictedTo('eu'))).toEqual([]);
    expect(await read({ kind: 'environment' })).toMatchObject([{ action: 'create', after: { slug: 'prod' } }]);
  });

  it('has every test of a draft that is added, changed or taken away, and nothing of the others', async () => {
    const rule = newRule({ slug: 'tested', testSuite: [{ id: 'a', name: 'A' }, { id: 'b', name: 'B' }, { id: 'c' }] }); // prettier-ignore
    await here((transaction) => insertAsset(transaction, 'rule', rule));
    const tests = [{ id: 'b', name: 'Bee' }, { id: 'c' }, { name: 7 }];
    await here((transaction) => saveTestSuite(transaction, { assetId: rule.id, tests }));
    const left = shown(await read({ kind: 'rule_test' }));
    expect(left).toHaveLength(3);
    expect(left).toEqual(
      expect.arrayContaining([
        { kind: 'rule_test', action: 'delete', subjectName: 'A', before: { rule: 'tested', id: 'a', name: 'A' }, after: null }, // prettier-ignore
        { kind: 'rule_test', action: 'update', subjectName: 'Bee', before: { name: 'B' }, after: { name: 'Bee' } },
        {
          kind: 'rule_test',
          action: 'create',
          subjectName: 'test-3',
          before: null,
          after: { rule: 'tested', name: 7 },
        },
      ]),
    );
  });

  it('says of which version a publication is made again', async () => {
    const rule = newRule({ slug: 'again' });
    const [sourceId, versionId] = [randomUUID(), randomUUID()];
    await here((transaction) => insertAsset(transaction, 'rule', rule));
    await here((transaction) => publishAsset(transaction, 'rule', rule.id, { versionId: sourceId }));
    await here((transaction) => publishVersionAgain(transaction, 'rule', { assetId: rule.id, sourceId, versionId }));
    const [newest] = await read({ subjectId: rule.id });
    expect(newest).toMatchObject({ action: 'publish', after: { versionId, version: 2, sourceVersion: 1 } });
  });

  it('is written with the change or not at all', async () => {
    const rule = newRule();
    const failing = here(async (transaction) => {
      await insertAsset(transaction, 'rule', rule);
      throw new TypeError('on purpose');
    });
    await expect(failing).rejects.toThrow('on purpose');
    expect(await read({ subjectId: rule.id })).toEqual([]);
  });

  it('pages newest first, filtered, and holds every entry once', async () => {
    const id = randomUUID();
    const change = { kind: 'folder', action: 'create', id, name: 'many' } as const;
    await here((transaction) =>
      recordChange(
        transaction,
        Array.from({ length: 7 }, () => change),
      ),
    );
    await here((transaction) => recordChange(transaction, []));
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await here((transaction) => listAudit(transaction, { subjectId: id, kind: 'folder', action: 'create' }, { limit: 3, cursor })); // prettier-ignore
      for (const entry of page.entries) seen.add(entry.id);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen.size).toBe(7);
    const [newest] = await read({ subjectId: id });
    const moment = newest?.createdAt ?? '';
    expect(await read({ subjectId: id, since: moment })).not.toEqual([]);
    expect(await read({ subjectId: id, until: '2000-01-01T00:00:00Z' })).toEqual([]);
    expect(await read({ subjectId: id, kind: 'rule' })).toEqual([]);
  });

  it('takes any change that can be thought of', async () => {
    const odd = { text: '\u0000\ud800', deep: { ['__proto__']: 1 }, undefined: undefined };
    await here((transaction) => recordChange(transaction, { kind: 'rule', action: 'x', id: '\u0000', name: '\ud800', userGroups: ['\ud800', '\u0000'], after: odd })); // prettier-ignore
    expect(await read({ action: 'x' })).toMatchObject([{ after: { text: '\u0000\ud800' } }]);
  });

  it('shows a restricted access what its groups could see, and lets it write', async () => {
    const sales = workspace.restrictedTo('sales');
    const [mine, theirs] = [newRule({ userGroups: ['sales'] }), newRule({ userGroups: ['eu'] })];
    await as(sales, (transaction) => insertAsset(transaction, 'rule', mine));
    await here((transaction) => insertAsset(transaction, 'rule', theirs));
    expect(await read({ subjectId: mine.id }, sales)).toHaveLength(1);
    expect(await read({ subjectId: theirs.id }, sales)).toEqual([]);
    expect(await read({}, await workspace.addWorkspace('elsewhere'))).toEqual([]);
  });

  it('V1: shows an entry that names two things to an access that sees both', async () => {
    const change = (id: string, userGroups: string[], otherGroups: string[] | undefined) =>
      here((transaction) =>
        recordChange(transaction, {
          kind: 'value',
          action: 'tie',
          id,
          name: id,
          userGroups,
          ...(otherGroups && { otherGroups }),
        }),
      );
    await change('both', ['sales', 'eu'], ['eu']);
    await change('one', ['sales'], undefined);
    await change('nobody', ['sales'], []);
    const seenBy = async (access: WorkspaceAccess) =>
      (await read({ action: 'tie' }, access)).map(({ subjectId }) => subjectId).sort();
    expect(await seenBy(workspace.restrictedTo('sales'))).toEqual(['one']);
    expect(await seenBy(workspace.restrictedTo('eu'))).toEqual(['both']);
    expect(await seenBy(workspace.restrictedTo('sales', 'eu'))).toEqual(['both', 'one']);
    expect(await seenBy(workspace.access)).toEqual(['both', 'nobody', 'one']);
  });

  it('V1: shows who related contexts before both were written down to accesses without restriction alone', async () => {
    const former = { kind: 'context', action: 'relate', id: 'former', name: 'former', userGroups: ['sales'] } as const;
    await here((transaction) => recordChange(transaction, former));
    expect(await read({ subjectId: 'former' }, workspace.restrictedTo('sales'))).toEqual([]);
    expect(await read({ subjectId: 'former' })).toHaveLength(1);
  });

  describe('only grows', () => {
    it.each([
      `update audit_entries set action = 'nothing'`,
      `update audit_entries set action = action where false`,
      'delete from audit_entries',
      'truncate audit_entries',
      'drop table audit_entries',
      'alter table audit_entries disable trigger all',
      'alter table audit_entries no force row level security',
      `insert into audit_entries (workspace_id, action, kind, subject_id, subject_name, user_groups)
         values ('${randomUUID()}', 'x', 'x', 'x', 'x', '{}')`,
    ])('the runtime role may not %s', async (statement) => {
      const before = await read({});
      await expect(here((transaction) => transaction.raw(statement))).rejects.toThrow();
      expect(await read({})).toEqual(before);
    });

    it('and not even its owner can change an entry', async () => {
      await expect(asOwner(workspace.url, `update audit_entries set action = 'nothing'`)).rejects.toThrow(
        'never change',
      );
    });
  });
});
