import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Secret } from '@decision/flows';
import { createConnectors, createVaultConnector, type NodeOutputs } from '../src';
import { startServer, stopServers } from './http-server';
import { callOf, runOf } from './support';

const MARKER = 'marker-8d21f0';
const root = mkdtempSync(join(tmpdir(), 'vault-'));
const granted = join(root, 'sales');

beforeAll(() => {
  mkdirSync(join(granted, 'db'), { recursive: true });
  writeFileSync(join(granted, 'db', 'password.txt'), `${MARKER}\n`);
  writeFileSync(join(granted, '.hidden'), MARKER);
  writeFileSync(join(granted, 'large'), 'x'.repeat(70_000));
  writeFileSync(join(root, 'outside'), MARKER);
  symlinkSync(join(root, 'outside'), join(granted, 'link'));
  symlinkSync(root, join(granted, 'up'));
});
afterAll(async () => {
  rmSync(root, { recursive: true });
  await stopServers();
});

const answer = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

type Options = Parameters<typeof createVaultConnector>[0];

const read = async (
  fields: Readonly<Record<string, unknown>>,
  names: readonly string[],
  options: Partial<Options> = {},
): Promise<NodeOutputs> => {
  const grants = new Map([['w1', { environment: ['FLOW_SECRET_'], files: [granted], keyValue: ['sales/'] }]]);
  const environment = { FLOW_SECRET_A: MARKER, DATABASE_URL: MARKER, FLOW_SECRET_EMPTY: '' };
  const connectors = createConnectors({ connectors: [createVaultConnector({ grants, environment, ...options })] });
  const secrets = names.map((name) => ({ name }));
  try {
    return await connectors.callFor(runOf())(callOf('vault', { ...fields, secrets, retries: 0 }));
  } finally {
    await connectors.stop();
  }
};

const failure = async (...args: Parameters<typeof read>): Promise<string> => {
  const error = await read(...args).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(Error);
  expect(`${String((error as Error).stack)}${JSON.stringify(error)}`).not.toContain('marker');
  return (error as Error).message;
};

it('CN-80, CN-81: reads variables that are granted to the workspace, and no others', async () => {
  const { FLOW_SECRET_A: secret } = await read({}, ['FLOW_SECRET_A']);
  expect((secret as Secret).reveal()).toBe(MARKER);
  for (const name of ['DATABASE_URL', 'FLOW_SECRET_NONE', 'FLOW_SECRET_EMPTY', 'constructor', ''])
    expect(await failure({}, [name])).toMatch(/^The secret ".*" does not exist, or this workspace may not read it/);
  expect(await failure({}, ['FLOW_SECRET_A'], { grants: new Map() })).toMatch(/may not read it/);
  expect(await failure({ provider: 'other' }, ['a'])).toMatch(/no provider "other"/);
});

it('CN-82: reads files of granted folders, and nothing that leads out of them', async () => {
  const outputs = (await read({ provider: 'file' }, ['db/password.txt'])) as { 'db/password': { txt: Secret } };
  expect(outputs['db/password'].txt.reveal()).toBe(MARKER);
  const others = [
    '../outside',
    'db/../../outside',
    'link',
    'up/outside',
    '.hidden',
    'db',
    '/etc/passwd',
    'none',
    'a\0b',
    '..',
  ];
  for (const name of others) expect(await failure({ provider: 'file' }, [name])).toMatch(/may not read it/);
  expect(await failure({ provider: 'file' }, ['large'])).toMatch(/more than 65536 bytes/);
});

it('CN-83: reads keys of a store of version 2 with the token of the operator', async () => {
  const server = await startServer((request, response) => {
    if (request.headers['x-vault-token'] !== 'token-marker') answer(response, { errors: ['permission denied'] }, 403);
    else if (request.url === '/v1/kv/data/sales/db')
      answer(response, { data: { data: { user: 'u', password: MARKER } } });
    else if (request.url === '/v1/kv/data/sales/one') answer(response, { data: { data: { only: MARKER } } });
    else if (request.url === '/v1/kv/data/sales/broken') answer(response, { errors: ['token-marker'] }, 500);
    else answer(response, { errors: [] }, 404);
  });
  const keyValue = { url: `http://127.0.0.1:${server.port}`, token: 'token-marker', mount: 'kv' };
  const fields = { provider: 'key-value' };
  const outputs = await read(fields, ['sales/db#password', 'sales/one'], { keyValue });
  expect(Object.values(outputs).map((secret) => (secret as Secret).reveal())).toEqual([MARKER, MARKER]);
  for (const name of [
    'sales/db',
    'sales/db#none',
    'sales/none',
    'other/db#password',
    'sales/../other',
    'sales/db?x#user',
  ])
    expect(await failure(fields, [name], { keyValue })).toMatch(/may not read it/);
  expect(await failure(fields, ['sales/broken'], { keyValue })).toMatch(/answered with status 500/);
  expect(await failure(fields, ['sales/db#user'], { keyValue: { ...keyValue, token: 'other' } })).toMatch(
    /may not read it/,
  );
  expect(await failure(fields, ['sales/db#user'])).toMatch(/No key-value store is configured/);
});

it('CN-84: answers secrets that JSON does not show', async () => {
  expect(JSON.stringify(await read({}, ['FLOW_SECRET_A']))).toBe('{"FLOW_SECRET_A":"[secret]"}');
});
