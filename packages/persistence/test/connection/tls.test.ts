import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSelfSigned, type RunningStack, stackLocations, startStack, waitUntil } from '@decision/local-stack';
import { checkDatabase, openDatabase, requireDatabase } from '../../src';
import { asAdministrator } from '../../src/connection/administrator';

/* A server that speaks TLS with a private authority, and asks one of its users for a certificate. */

const server = makeSelfSigned('localhost');
const client = makeSelfSigned('tls_user');
const stranger = makeSelfSigned('tls_user');
let directory: string;
let stack: RunningStack;
let plainUrl: URL;

/** Writes a PEM file for the server or a client. */
const pem = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

const statement = (sql: string): Promise<unknown> => asAdministrator(plainUrl.href, (admin) => admin.query(sql));
const shown = async (setting: string): Promise<string> =>
  asAdministrator(plainUrl.href, async (admin) => {
    const { rows } = await admin.query<{ value: string }>(`select current_setting('${setting}') as value`);
    return rows[0]?.value ?? '';
  });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'persistence-tls-'));
  // If the test runs as root, the server runs as another user, who needs access.
  chmodSync(directory, 0o711);
  stack = await startStack({
    ...{ directory, downloads: join(directory, 'downloads'), servers: ['database'], durable: false },
  });
  plainUrl = new URL(stack.databaseUrl);
  const rules = await shown('hba_file');
  const { uid, gid } = statSync(rules);
  const key = pem('server.key', server.key);
  chownSync(key, uid, gid);
  chmodSync(key, 0o600);
  // The driver connects to localhost, the name in the certificate.
  const before = readFileSync(rules, 'utf8');
  writeFileSync(rules, `hostssl all tls_user all cert\n${before}`);
  await statement(`create role tls_user login superuser`);
  for (const [name, value] of [
    ['ssl_cert_file', pem('server.crt', server.cert)],
    ['ssl_key_file', key],
    ['ssl_ca_file', pem('clients.crt', client.cert)],
    ['ssl', 'on'],
  ] as const)
    await statement(`alter system set ${name} = '${value}'`);
  await statement('select pg_reload_conf()');
  await waitUntil(async () => (await shown('ssl')) === 'on');
}, 300_000);
afterAll(async () => {
  await stack.stop();
  for (const location of [...stackLocations(directory), directory]) rmSync(location, { recursive: true, force: true });
}, 90_000);

const url = (
  parameters: Readonly<Record<string, string>>,
  change: Partial<Record<'hostname' | 'username', string>> = {},
) => {
  const given = Object.assign(new URL(plainUrl.href), { hostname: 'localhost', ...change });
  for (const [name, value] of Object.entries({ sslmode: 'verify-full', ...parameters }))
    given.searchParams.set(name, value);
  return given.href;
};
const trusting = () => ({ sslrootcert: pem('authority.crt', server.cert) });

it('is spoken to a server whose authority DATABASE_URL names, by administration and by services', async () => {
  await expect(checkDatabase(url(trusting()))).resolves.toEqual([expect.stringContaining('lacks the migrations')]);
  const database = openDatabase({ url: url(trusting()), poolMax: 1, applicationName: 'tls' });
  // The role of the services does not exist before the migrations; the server reports this over TLS.
  await expect(database.ping()).rejects.not.toThrow(/TLS/);
  await database.close();
});

it.each<[string, () => string, RegExp]>([
  [
    'an authority that is not known',
    () => url({}),
    /TLS \(\w+\): its certificate is not trusted: name the file of its authority/,
  ],
  [
    'another authority',
    () => url({ sslrootcert: pem('other.crt', stranger.cert) }),
    /TLS \(\w+\): its certificate is not trusted/,
  ],
  ['another host name', () => url(trusting(), { hostname: '127.0.0.1' }), /certificate is for another host/],
  [
    'a file that is not there',
    () => url({ sslrootcert: '/no/such.pem' }),
    /names \/no\/such.pem as sslrootcert, which cannot be read/,
  ],
])('refuses %s, and says what to change', async (_what, urlOf, sentence) => {
  await expect(requireDatabase(urlOf(), { deadlineMs: 0 })).rejects.toThrow(sentence);
});

it('shows the certificate of a client if the server asks for one', async () => {
  const files = { sslcert: pem('client.crt', client.cert), sslkey: pem('client.key', client.key) };
  await expect(checkDatabase(url({ ...trusting(), ...files }, { username: 'tls_user' }))).resolves.toEqual([
    expect.stringContaining('lacks the migrations'),
  ]);
});

it.each<[string, () => Readonly<Record<string, string>>]>([
  ['none', () => ({})],
  [
    'one of another authority',
    () => ({ sslcert: pem('strange.crt', stranger.cert), sslkey: pem('strange.key', stranger.key) }),
  ],
])('a client that shows %s is refused with a sentence about certificates', async (_what, files) => {
  const asked = url({ ...trusting(), ...files() }, { username: 'tls_user' });
  await expect(requireDatabase(asked, { deadlineMs: 0 })).rejects.toThrow(/certificate/);
});

it('says that a server speaks no TLS', async () => {
  await statement('alter system set ssl = off');
  await statement('select pg_reload_conf()');
  await waitUntil(async () => (await shown('ssl')) === 'off');
  await expect(requireDatabase(url(trusting()), { deadlineMs: 0 })).rejects.toThrow('speaks no TLS');
});
