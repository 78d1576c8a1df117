import { existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearDatabaseRemains } from './database-server';

const ABOVE_ALL_PIDS = 4_194_305;

describe('clearDatabaseRemains', () => {
  let data: string;

  beforeEach(() => {
    data = realpathSync(mkdtempSync(join(tmpdir(), 'local-stack-test-')));
  });
  afterEach(() => rmSync(data, { recursive: true }));

  it('removes the pid file of a server that has ended', async () => {
    writeFileSync(join(data, 'postmaster.pid'), `${ABOVE_ALL_PIDS}\n${data}\n`);
    await clearDatabaseRemains(data);
    expect(existsSync(join(data, 'postmaster.pid'))).toBe(false);
  });

  it('removes a pid file that names another program, if the system can tell', async () => {
    writeFileSync(join(data, 'postmaster.pid'), `${process.pid}\n${data}\n`);
    await clearDatabaseRemains(data);
    expect(existsSync(join(data, 'postmaster.pid'))).toBe(process.platform !== 'linux');
  });

  it('accepts a directory without a pid file, even through a link', async () => {
    const link = `${data}.link`;
    symlinkSync(data, link);
    await clearDatabaseRemains(link);
    expect(existsSync(join(data, 'postmaster.pid'))).toBe(false);
    rmSync(link);
  });
});
