import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { importFromCommandLine } from '../src/cli/import-workspace';
import { LaunchError } from '../src/launch-error';
import { importWorkspace, seedExamples } from '../src/workspace/import-workspace';
import { importers } from '../src/workspace/importers';

interface Call {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly key: string | string[] | undefined;
  readonly body: Record<string, unknown>;
}

let directory: string;
let server: Server;
let baseUrl: string;
let calls: Call[];
/** Refusals of the API by path; by default it answers 200. */
let refusals: Map<string, string>;

const ANSWERS: Readonly<Record<string, (body: Record<string, unknown>) => unknown>> = {
  '/api/v1/objects': () => ({ created: true }),
  '/api/v1/values': ({ values }) => Object.keys(values as object),
  '/api/v1/admin/rules/import': ({ rule }) => rule,
  '/api/v1/admin/flows/import': ({ flow }) => flow,
};
/** Contexts that the API has, by name. */
let contexts: Map<string, string>;

/** Answers of the API about contexts, with ids made of names, such as `id of Orders`. */
const answerContexts = (method: string, path: string, body: Record<string, unknown>): unknown => {
  const { pathname, searchParams } = new URL(path, baseUrl);
  if (pathname.endsWith('/relationships')) return { outgoing: [] };
  if (method === 'POST') contexts.set(String(body['name']), `id-of-${String(body['name'])}`);
  const id = contexts.get(searchParams.get('name') ?? '');
  return id === undefined ? [] : [{ id }];
};

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'workspace-'));
  calls = [];
  refusals = new Map();
  contexts = new Map();
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url: path = '' } = request;
      const text = Buffer.concat(chunks).toString();
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
      calls.push({ method, path, key: request.headers['x-api-key'], body });
      const refusal = refusals.get(path);
      response.writeHead(refusal === undefined ? 200 : 422);
      response.end(refusal ?? JSON.stringify(ANSWERS[path]?.(body) ?? answerContexts(method ?? '', path, body)));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  rmSync(directory, { recursive: true, force: true });
});

const file = (path: string, content: unknown): void => {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), typeof content === 'string' ? content : JSON.stringify(content));
};
const rule = (slug: string, more: object = {}) => ({ rule: { id: `id of ${slug}`, slug, ...more } });
const run = (): Promise<void> => importWorkspace({ directory, baseUrl, apiKey: 'key' });
const faultOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(LaunchError);
  return (error as LaunchError).message;
};

describe('importWorkspace', () => {
  it('sends objects, then values, then rules, each folder by file name', async () => {
    file('rules/b.json', rule('b'));
    file('rules/a.json', rule('a', { _publish: false }));
    file('rules/c.mjs', 'console.log(JSON.stringify({ rule: { id: "c", slug: "made" } }));');
    file('rules/notes.txt', 'not read');
    file('README.md', 'not read');
    file('values/v.json', { values: { x: 1, y: 2 }, user_groups: ['sales'] });
    file('objects/o.json', { name: 'O', content: { type: 'object', properties: {} } });
    file('objects/p.json', { name: 'P', content: '{ "a": 1 }' });
    const said: string[] = [];
    await importWorkspace({
      directory,
      baseUrl,
      apiKey: 'key',
      onWritten: (name, what) => said.push(`${name}: ${what}`),
    });
    expect(calls.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['PUT', '/api/v1/objects', { name: 'O', content: '{"type":"object","properties":{}}' }],
      ['PUT', '/api/v1/objects', { name: 'P', content: '{ "a": 1 }' }],
      ['POST', '/api/v1/values', { values: { x: 1, y: 2 }, user_groups: ['sales'] }],
      ['POST', '/api/v1/admin/rules/import', rule('a', { _publish: false })],
      ['POST', '/api/v1/admin/rules/import', rule('b', { _publish: true })],
      ['POST', '/api/v1/admin/rules/import', { rule: { id: 'c', slug: 'made', _publish: true } }],
    ]);
    expect(new Set(calls.map(({ key }) => key))).toEqual(new Set(['key']));
    expect(said).toEqual([
      'objects/o.json: object "O"',
      'objects/p.json: object "P"',
      'values/v.json: 2 values',
      'rules/a.json: rule a',
      'rules/b.json: rule b',
      'rules/c.mjs: rule made',
    ]);
  });

  it('makes contexts without formulas, then relationships, then completes the contexts', async () => {
    const schema = { base: [{ key: 'id', type: 'string' }], derived: [{ key: 'n', expression: 'count($orders)' }] };
    const related = { name: 'orders', relation_type: 'has_many', foreign_key_fact: 'customer' };
    file('contexts/a.json', { name: 'Customers', schema, relationships: [{ ...related, to: 'Orders' }] });
    file('contexts/b.json', { name: 'Orders', schema: { base: schema.base } });
    await run();
    const path = '/api/v1/admin/contexts';
    const bare = { base: schema.base, derived: [] };
    const written = calls.filter(({ method }) => method !== 'GET');
    expect(written.map((call) => [call.method, call.path, call.body])).toEqual([
      ['POST', path, { name: 'Customers', schema: bare }],
      ['POST', path, { name: 'Orders', schema: bare }],
      ['POST', `${path}/id-of-Customers/relationships`, { ...related, to_context_id: 'id-of-Orders' }],
      ['PUT', `${path}/id-of-Customers`, { name: 'Customers', schema }],
      ['PUT', `${path}/id-of-Orders`, { name: 'Orders', schema: { base: schema.base } }],
    ]);
  });

  it('identifies contexts by name', async () => {
    contexts.set('Orders', 'known');
    file('contexts/a.json', { name: 'Orders', schema: { base: [] } });
    await run();
    expect(calls.filter(({ method }) => method !== 'GET')).toMatchObject([
      { method: 'PUT', path: '/api/v1/admin/contexts/known' },
    ]);
  });

  it('names the file whose relationship leads to no context', async () => {
    file('contexts/a.json', { name: 'A', schema: {}, relationships: [{ name: 'b', to: 'B' }] });
    expect(await faultOf(run())).toBe('contexts/a.json was refused: There is no context named "B".');
  });

  it('stops at the first refusal and says which file it was', async () => {
    file('values/v.json', { values: { x: null } });
    file('rules/a.json', rule('a'));
    refusals.set('/api/v1/values', '{"error":"The value \\"x\\" is null."}');
    expect(await faultOf(run())).toBe('values/v.json was refused: 422 {"error":"The value \\"x\\" is null."}');
    expect(calls).toHaveLength(1);
  });

  it('checks every file before it sends one, and reports all faults', async () => {
    file('objects/o.json', { content: {} });
    file('objects/p.json', { name: 'P' });
    file('values/v.json', { values: [] });
    file('contexts/a.json', { name: 'A' });
    file('contexts/b.json', { name: 'B', schema: {}, relationships: [{ to: 'A' }] });
    file('contexts/c.json', { schema: {} });
    file('rules/a.json', {});
    file('rules/b.json', { rule: { slug: 'b' } });
    expect((await faultOf(run())).split('\n')).toEqual([
      'objects/o.json lacks the "name" of the object.',
      'objects/p.json lacks the "content" of the object.',
      'values/v.json lacks its "values".',
      'contexts/a.json lacks the "schema" of the context.',
      'contexts/b.json has relationships that lack their "name" or the name of the context "to" which they lead.',
      'contexts/c.json lacks the "name" of the context, by which it is found again.',
      'rules/a.json lacks its "rule".',
      'rules/b.json lacks the "id" of the rule, by which it is found again.',
    ]);
    expect(calls).toEqual([]);
  });

  it.each<[string, string, string, RegExp]>([
    ['no JSON', 'rules/a.json', '{', /^The file rules\/a.json holds no JSON: /],
    ['a list', 'rules/a.json', '[]', /^The file rules\/a.json holds no JSON object\.$/],
    ['a script that fails', 'rules/a.mjs', 'process.exit(3);', /^The script rules\/a.mjs printed no JSON: /],
    ['a script that prints no JSON', 'rules/a.mjs', 'console.log("x");', /^The file rules\/a.mjs holds no JSON: /],
    ['a misspelt folder', 'rule/a.json', '{}', /has the folder rule; a workspace has objects, values, contexts, rules/],
    ['nothing in it', 'notes.txt', '', /holds nothing to import\.$/],
  ])('refuses a workspace with %s, and sends nothing', async (_what, path, content, message) => {
    file(path, content);
    expect(await faultOf(run())).toMatch(message);
    expect(calls).toEqual([]);
  });

  it('names the address that does not answer', async () => {
    file('rules/a.json', rule('a'));
    const url = 'http://127.0.0.1:9';
    expect(await faultOf(importWorkspace({ directory, baseUrl: url, apiKey: 'key' }))).toBe(
      'rules/a.json was refused: http://127.0.0.1:9 did not answer. Is the service running?',
    );
  });
});

describe('the command line', () => {
  const command = (args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> =>
    importFromCommandLine(directory, args, { INIT_CWD: directory, ...environment }, () => undefined);

  it('imports into the service of the environment, with its key', async () => {
    file('mine/rules/a.json', rule('a'));
    await command(['mine'], { DECISION_URL: `${baseUrl}/`, DECISION_API_KEY: 'mine' });
    expect(calls).toMatchObject([{ path: '/api/v1/admin/rules/import', key: 'mine' }]);
  });

  it('imports into the service that runs in the checkout', async () => {
    file('.local/connection.json', { base_url: baseUrl, api_key: 'local' });
    file('mine/rules/a.json', rule('a'));
    await command(['mine'], {});
    expect(calls).toMatchObject([{ key: 'local' }]);
  });

  it('never sends the key of the checkout elsewhere', async () => {
    file('.local/connection.json', { base_url: 'http://127.0.0.1:9', api_key: 'local' });
    file('mine/rules/a.json', rule('a'));
    expect(await faultOf(command(['mine'], { DECISION_URL: baseUrl }))).toMatch(/^Set DECISION_API_KEY/);
    expect(calls).toEqual([]);
  });

  it.each<[readonly string[], NodeJS.ProcessEnv, RegExp]>([
    [[], {}, /^Usage: pnpm workspace:import/],
    [['a', 'b'], {}, /^Usage/],
    [['mine'], {}, /^Nothing runs here/],
    [['mine'], { DECISION_URL: 'nonsense', DECISION_API_KEY: 'k' }, /^DECISION_URL is "nonsense"/],
    [['nothing'], { DECISION_URL: 'http://127.0.0.1:9', DECISION_API_KEY: 'k' }, /^There is no folder /],
  ])('refuses %j with %j', async (args, environment, message) => {
    expect(await faultOf(command(args, environment))).toMatch(message);
  });
});

describe('the workspace that comes with the checkout', () => {
  it('is imported by the first start and has every importable kind of asset', async () => {
    const slugs = await seedExamples(resolve(__dirname, '../../..'), baseUrl, 'key');
    expect(slugs).toContain('ticket-routing');
    expect(slugs).toContain('order-pricing');
    expect(calls.filter(({ path }) => /\/admin\/(?:rules|flows)\/import$/.test(path ?? ''))).toHaveLength(slugs.length);
    const kinds = ['/objects', '/values', '/admin/contexts', '/admin/rules/import', '/admin/flows/import'];
    expect(kinds).toHaveLength(importers.length);
    const written = new Set(calls.filter(({ method }) => method !== 'GET').map(({ path }) => path));
    expect(kinds.filter((kind) => !written.has(`/api/v1${kind}`))).toEqual([]);
  });
});
