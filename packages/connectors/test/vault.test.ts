import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
  process.env['AWS_ACCESS_KEY_ID'] = 'AKIDTEST';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'marker-secret-access-key';
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
  const grants = new Map([
    ['w1', { environment: ['FLOW_SECRET_'], file: [granted], 'key-value': ['sales/'], aws: ['sales/'] }],
  ]);
  const environment = { FLOW_SECRET_A: MARKER, DATABASE_URL: MARKER, FLOW_SECRET_EMPTY: '' };
  const base = { grants, environment, allowedHosts: ['127.0.0.1'], timeoutMs: 10_000 };
  const connectors = createConnectors({ connectors: [createVaultConnector({ ...base, ...options })] });
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

it('CN-80, CN-81: reads only variables that are granted to the workspace', async () => {
  const { FLOW_SECRET_A: secret } = await read({}, ['FLOW_SECRET_A']);
  expect((secret as Secret).reveal()).toBe(MARKER);
  for (const name of ['DATABASE_URL', 'FLOW_SECRET_NONE', 'FLOW_SECRET_EMPTY', 'constructor', ''])
    expect(await failure({}, [name])).toMatch(/^The secret ".*" does not exist, or this workspace may not read it/);
  expect(await failure({}, ['FLOW_SECRET_A'], { grants: new Map() })).toMatch(/may not read it/);
  expect(await failure({ provider: 'other' }, ['a'])).toMatch(/no provider "other"/);
});

it('CN-82: reads files of granted folders, and nothing outside them', async () => {
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

it('CN-83: reads keys of a version 2 store with the token of the operator', async () => {
  const server = await startServer((request, response) => {
    if (request.headers['x-vault-token'] !== 'token-marker') answer(response, { errors: ['permission denied'] }, 403);
    else if (request.url === '/v1/kv/data/sales/db')
      answer(response, { data: { data: { user: 'u', password: MARKER } } });
    else if (request.url === '/v1/kv/data/sales/one') answer(response, { data: { data: { only: MARKER } } });
    else if (request.url === '/v1/kv/data/sales/broken') answer(response, { errors: ['token-marker'] }, 500);
    else answer(response, { errors: [] }, 404);
  });
  const keyValue = { url: `http://127.0.0.1:${server.port}`, token: { text: 'token-marker' }, mount: 'kv' };
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
  expect(await failure(fields, ['sales/db#user'], { keyValue: { ...keyValue, token: { text: 'other' } } })).toMatch(
    /may not read it/,
  );
  expect(await failure(fields, ['sales/db#user'])).toMatch(/No key-value store is configured/);
});

it('CN-85: reads what is granted to every workspace, and the same store for other workspaces by their own prefixes', async () => {
  const grants = new Map([
    ['*', { environment: ['FLOW_SECRET_'] }],
    ['w2', { file: [granted] }],
  ]);
  const { FLOW_SECRET_A: secret } = await read({}, ['FLOW_SECRET_A'], { grants });
  expect((secret as Secret).reveal()).toBe(MARKER);
  expect(await failure({ provider: 'file' }, ['db/password.txt'], { grants })).toMatch(/may not read it/);
});

it('CN-86: reads no file of the service itself in a granted folder, under any name', async () => {
  const key = join(granted, 'client.key');
  writeFileSync(key, MARKER);
  linkSync(key, join(granted, 'other-name'));
  expect(Object.keys(await read({ provider: 'file' }, ['client.key', 'other-name']))).toHaveLength(2);
  process.env['TEST_OWN_KEY_FILE'] = key;
  try {
    for (const name of ['client.key', 'other-name'])
      expect(await failure({ provider: 'file' }, [name])).toMatch(/may not read it/);
    expect(Object.keys(await read({ provider: 'file' }, ['db/password.txt']))).toHaveLength(1);
  } finally {
    delete process.env['TEST_OWN_KEY_FILE'];
  }
});

it('CN-87: reads the token from its file for each call, uses its namespace, and follows no redirect', async () => {
  const file = join(root, 'token');
  const server = await startServer((request, response) => {
    const { 'x-vault-token': token, 'x-vault-namespace': namespace } = request.headers;
    if (namespace !== 'team/a') answer(response, {}, 400);
    else if (request.url === '/v1/kv/data/sales/moved')
      response.writeHead(307, { location: `/v1/kv/data/sales/one` }).end();
    else answer(response, { data: { data: { only: `${MARKER}-${String(token)}` } } });
  });
  const url = `http://127.0.0.1:${server.port}`;
  const keyValue = { url, mount: 'kv', namespace: 'team/a', token: { file } };
  const fields = { provider: 'key-value' };
  for (const token of ['first', 'second']) {
    writeFileSync(file, `${token}\n`);
    const { 'sales/one': secret } = await read(fields, ['sales/one'], { keyValue });
    expect((secret as Secret).reveal()).toBe(`${MARKER}-${token}`);
  }
  expect(await failure(fields, ['sales/moved'], { keyValue })).toMatch(/redirects more than 0 times/);
  writeFileSync(file, 'marker with blanks');
  expect(await failure(fields, ['sales/one'], { keyValue })).toMatch(/FLOW_VAULT_TOKEN_FILE holds no key/);
  const gone = { ...keyValue, token: { file: join(root, 'marker-gone') } };
  expect(await failure(fields, ['sales/one'], { keyValue: gone })).toMatch(
    /FLOW_VAULT_TOKEN_FILE names cannot be read/,
  );
});

it('CN-88: refuses a store at a private address that the operator did not allow', async () => {
  const keyValue = { url: 'http://127.0.0.1:1', mount: 'kv', token: { text: 'token-marker' } };
  const aws = { region: 'eu-test-1', url: 'http://127.0.0.1:1' };
  const options = { keyValue, aws, allowedHosts: [] };
  expect(await failure({ provider: 'key-value' }, ['sales/one'], options)).toMatch(/FLOW_VAULT_ALLOWED_HOSTS/);
  expect(await failure({ provider: 'aws' }, ['sales/one'], options)).toMatch(/FLOW_VAULT_ALLOWED_HOSTS/);
});

describe('AWS Secrets Manager', () => {
  const fields = { provider: 'aws' };
  const seen: { readonly target: unknown; readonly authorization: string; readonly id: string }[] = [];
  const refusal = (response: ServerResponse, type: string, status: number): void => {
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': 'q' });
    response.end(JSON.stringify({ __type: type, message: `what ${MARKER} says` }));
  };
  let aws: { readonly region: string; readonly url: string };

  beforeAll(async () => {
    const server = await startServer(({ headers, body }, response) => {
      const { SecretId: id } = JSON.parse(body) as { readonly SecretId: string };
      seen.push({ target: headers['x-amz-target'], authorization: String(headers.authorization), id });
      const texts: Readonly<Record<string, string>> = {
        'sales/plain': MARKER,
        'sales/login': JSON.stringify({ user: 'u', password: MARKER }),
      };
      const text = texts[id];
      if (text !== undefined) answer(response, { Name: id, SecretString: text });
      else if (id === 'sales/binary') answer(response, { Name: id, SecretBinary: 'AAAA' });
      else if (id === 'sales/denied') refusal(response, 'AccessDeniedException', 400);
      else if (id === 'sales/expired') refusal(response, 'ExpiredTokenException', 400);
      else if (id === 'sales/broken') refusal(response, 'InternalServiceError', 500);
      else if (id === 'sales/large') answer(response, { SecretString: 'x'.repeat(1_100_000) });
      else if (id === 'sales/none') refusal(response, 'ResourceNotFoundException', 400);
    });
    aws = { region: 'eu-test-1', url: `http://127.0.0.1:${server.port}` };
  });

  it('CN-89: reads secrets, and members of JSON secrets, with the credentials of the service', async () => {
    const outputs = await read(fields, ['sales/plain', 'sales/login#password'], { aws });
    expect(Object.values(outputs).map((secret) => (secret as Secret).reveal())).toEqual([MARKER, MARKER]);
    expect(seen[0]).toMatchObject({ target: 'secretsmanager.GetSecretValue', id: 'sales/plain' });
    expect(seen[0]?.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDTEST\/\d{8}\/eu-test-1\/secretsmanager\//);
  });

  it('CN-89: refuses ungranted names without a request, and reports missing ones in the same words', async () => {
    const before = seen.length;
    for (const name of ['other/plain', 'arn:aws:secretsmanager:eu-test-1:1:secret:sales/plain', 'sales/plain#', ''])
      expect(await failure(fields, [name], { aws })).toMatch(/may not read it/);
    expect(seen).toHaveLength(before);
    for (const name of ['sales/none', 'sales/denied', 'sales/binary', 'sales/login#none', 'sales/plain#key'])
      expect(await failure(fields, [name], { aws })).toMatch(/may not read it/);
  });

  it('CN-89, CN-90: has a deadline and a bound, and does not repeat a request that was answered', async () => {
    const expired = await failure(fields, ['sales/expired'], { aws });
    expect(expired).toMatch(/answered with ExpiredTokenException; ask the operator to check FLOW_VAULT_AWS_REGION/);
    expect(await failure(fields, ['sales/broken'], { aws })).toMatch(/InternalServiceError; try again later/);
    expect(await failure(fields, ['sales/large'], { aws })).toMatch(/more than 1048576 bytes/);
    expect(await failure({ ...fields, timeoutMs: 100 }, ['sales/silent'], { aws })).toMatch(/no answer within/);
    expect(await failure(fields, ['sales/plain'])).toMatch(/ask the operator to set FLOW_VAULT_AWS_REGION/);
  });

  it('CN-90: retries a busy service once per attempt of the node', async () => {
    const before = seen.length;
    const connectors = createConnectors({
      connectors: [
        createVaultConnector({
          ...{ grants: new Map([['w1', { aws: ['sales/'] }]]), environment: {}, aws },
          ...{ allowedHosts: ['127.0.0.1'], timeoutMs: 10_000 },
        }),
      ],
      random: () => 0,
    });
    const call = callOf('vault', { ...fields, secrets: [{ name: 'sales/broken' }], retries: 2 });
    await expect(connectors.callFor(runOf())(call)).rejects.toThrow(/try again later/);
    await connectors.stop();
    expect(seen).toHaveLength(before + 3);
  });
});

it('CN-84: answers secrets that JSON does not reveal', async () => {
  expect(JSON.stringify(await read({}, ['FLOW_SECRET_A']))).toBe('{"FLOW_SECRET_A":"[secret]"}');
});
