import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connectorSettings } from './connector-settings';
import { readConfig } from './read-config';
import { brokerSettings, databaseSettings } from './service-settings';
import { type VaultGrants } from './vault-grants';

const WORKSPACE = '0b7e1c52-6d0f-4a57-9f0e-2f3f8c1d7a90';
const root = mkdtempSync(join(tmpdir(), 'grants-'));
afterAll(() => rmSync(root, { recursive: true }));

const read = (grants: string, environment: Record<string, string> = {}): VaultGrants =>
  readConfig(
    { ...databaseSettings, ...brokerSettings, ...connectorSettings },
    { DATABASE_URL: 'postgres://u:p@h/d', FLOW_VAULT_GRANTS: grants, ...environment },
  ).flowVaultGrants;

describe('FLOW_VAULT_GRANTS', () => {
  it('lists by workspace what may be read', () => {
    const grants = `* environment:FLOW_SECRET_;\n ${WORKSPACE} file:/run/secrets/sales key-value:sales/ ; ${WORKSPACE} aws:sales/ environment:SALES_;`;
    expect([...read(grants)]).toEqual([
      ['*', { environment: ['FLOW_SECRET_'], file: [], 'key-value': [], aws: [] }],
      [WORKSPACE, { environment: ['SALES_'], file: ['/run/secrets/sales'], 'key-value': ['sales/'], aws: ['sales/'] }],
    ]);
    expect(read('').size).toBe(0);
  });

  it.each([
    ['sales environment:SALES_', 'names neither the id of a workspace nor * at grant 1'],
    [`* environment:SALES_; ${WORKSPACE}`, 'grants nothing at grant 2'],
    ['* SALES_', 'names no provider at grant 1, in "SALES_"'],
    ['* secrets:SALES_', 'names no provider at grant 1'],
    ['* environment:', 'must be the beginning of a name, of at least 4 characters'],
    ['* environment:S', 'at least 4 characters'],
    ['* environment:SALES-', 'must be the beginning of a name'],
    ['* file:secrets', 'must be a folder by its whole path'],
    ['* file:/', 'must be a folder by its whole path'],
    ['* file:/run/../etc', 'must be a folder by its whole path'],
    ['* file:/proc/self', 'is a folder of the system'],
    ['* key-value:', 'must be the beginning of a path'],
    ['* key-value:../sys', 'must be the beginning of a path'],
    ['* aws:arn:x', 'must be the beginning of a name'],
    ['* aws:a', 'of at least 2 characters'],
    [Array.from({ length: 1_002 }, () => '* aws:sales/').join(';'), 'has 1002 grants, more than 1000'],
  ])('%.60s is refused', (grants, fault) => {
    expect(() => read(grants)).toThrow(fault);
    expect(() => read(grants)).toThrow(/- FLOW_VAULT_GRANTS=/);
  });

  it.each([
    ['DATA', 'DATABASE_URL'],
    ['DATABASE_URL', 'DATABASE_URL'],
    ['FLOW', 'FLOW_MAX_CALLS'],
    ['FLOW_VAULT_', 'FLOW_VAULT_GRANTS'],
    ['MQ_SASL_', 'MQ_SASL_MECHANISM'],
    ['LOG_L', 'LOG_LEVEL'],
    ['LOG_M', 'LOG_MESSAGE_BYTES'],
    ['AWS_SECRET_', 'AWS_...'],
    ['NODE_', 'NODE_...'],
    ['PGPASS', 'PG...'],
    ['HOST', 'HOSTNAME'],
  ])('environment:%s is refused, since it covers a variable of the service', (prefix, covered) => {
    const fault = `grants the workspace * environment:${prefix}, which covers ${covered}, a variable of the service itself`;
    expect(() => read(`* environment:${prefix}`)).toThrow(fault);
  });

  it('refuses folders with files of the service, by any path', () => {
    const folder = join(root, 'secrets');
    const key = join(folder, 'tls', 'client.key');
    mkdirSync(dirname(key), { recursive: true });
    writeFileSync(key, 'key');
    symlinkSync(folder, join(root, 'link'));
    const own = { MQ_SSL_KEY_FILE: key };
    for (const granted of [folder, dirname(key), root, join(root, 'link'), join(root, 'link', 'tls')])
      expect(() => read(`* file:${granted}`, own)).toThrow(
        /holds the file of MQ_SSL_KEY_FILE, which is the service's own/,
      );
    expect(() => read(`* file:${folder}`, { MQ_SSL_KEY_FILE: join(root, 'link', 'tls', 'client.key') })).toThrow(
      /MQ_SSL_KEY_FILE/,
    );
    expect(read(`* file:${join(folder, 'sales')}`, own).size).toBe(1);
    expect(() => read(`* file:${dirname(process.cwd())}`)).toThrow(/holds the service itself/);
    symlinkSync('/proc', join(root, 'system'));
    expect(() => read(`* file:${join(root, 'system')}`)).toThrow(/a folder of the system/);
  });
});
