import { testStack } from '../../src';
import { query } from '../servers/postgres-query';
import { brokerInterfaces, redis } from '../wire';

describe('the servers that the tests share', () => {
  const { databaseUrl, cacheUrl, mqBrokers } = testStack();

  it('have a database that decodes logically, in UTF-8 and UTC', async () => {
    const settings = ['server_version_num', 'wal_level', 'server_encoding', 'TimeZone', 'listen_addresses'];
    const sql = `SELECT ${settings.map((name) => `current_setting('${name}')`).join(', ')}, upper('é')`;
    const [row] = await query(databaseUrl, sql);
    expect(row).toEqual([expect.stringMatching(/^17/), 'logical', 'UTF8', 'UTC', '127.0.0.1', 'É']);
  });

  it('let the database user make databases of its own', async () => {
    const name = testStack().uniqueName('own');
    await query(databaseUrl, `CREATE DATABASE ${name}`);
    const url = new URL(databaseUrl);
    url.pathname = `/${name}`;
    expect(await query(url.href, 'SELECT current_database()')).toEqual([[name]]);
    await query(databaseUrl, `DROP DATABASE ${name}`);
  });

  it('refuse a wrong password', async () => {
    const url = new URL(databaseUrl);
    url.password = 'wrong';
    await expect(query(url.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
  });

  it('have a cache with bounded memory', async () => {
    expect(await redis(cacheUrl, 'PING')).toBe('+PONG');
    expect(await redis(cacheUrl, 'CONFIG', 'GET', 'maxmemory')).toContain(String(256 * 1024 * 1024));
  });

  it('have a broker', async () => {
    expect(await brokerInterfaces(mqBrokers)).toBeGreaterThan(20);
  });
});
