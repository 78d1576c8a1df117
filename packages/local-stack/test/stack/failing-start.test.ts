import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type StackProgress, startStack } from '../../src';
import { downloads, removeTemporaryDirectories, temporaryDirectory } from '../temporary-directory';

describe('a start that fails', () => {
  afterEach(removeTemporaryDirectories);

  it('names the server, the log and its last lines, and stops the others', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'cache'));
    writeFileSync(join(directory, 'cache/dump.rdb'), 'this is no snapshot');
    const events: StackProgress[] = [];
    const failed = startStack({ directory, downloads, onProgress: (event) => events.push(event) });
    await expect(failed).rejects.toMatchObject({ name: 'StackError', code: 'start_failed' });
    await expect(failed).rejects.toThrow(
      /^The cache ended while it started \(exit code 1\)\. The end of .*cache\.log:\n/,
    );
    await expect(failed).rejects.toThrow(/Wrong signature trying to load DB from file/);
    expect(events.filter(({ step }) => step === 'ready')).toEqual([]);
    expect(readdirSync(directory).filter((name) => /^processes-|lock/.test(name))).toEqual([]);
  }, 180_000);

  it('explains how to delete data of another major version of PostgreSQL', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'database'));
    writeFileSync(join(directory, 'database/PG_VERSION'), '16\n');
    const failed = startStack({ directory, downloads, servers: ['database'] });
    await expect(failed).rejects.toThrow(/was made by PostgreSQL 16 and this is 17: `npm run reset`/);
  });

  it('can be repeated after it was aborted half-way', async () => {
    const directory = temporaryDirectory();
    const giveUp = new AbortController();
    const onProgress = ({ step }: StackProgress): void => {
      if (step === 'install') giveUp.abort();
    };
    const options = { directory, downloads, durable: false, servers: ['database'] } as const;
    const failed = startStack({ ...options, signal: giveUp.signal, onProgress });
    await expect(failed).rejects.toMatchObject({ code: 'aborted' });
    expect(readdirSync(directory)).not.toContain('database');
    const stack = await startStack(options);
    expect(stack.processes).toHaveLength(1);
    await stack.stop();
  }, 180_000);

  it('is refused at once if its signal is already aborted', async () => {
    const failed = startStack({ directory: temporaryDirectory(), downloads, signal: AbortSignal.abort() });
    await expect(failed).rejects.toMatchObject({ code: 'aborted' });
  });

  it('names a directory that cannot be one', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const failed = startStack({ directory: join(file, 'data'), downloads });
    await expect(failed).rejects.toMatchObject({ code: 'unsupported' });
    await expect(failed).rejects.toThrow(`${file}/data cannot be written`);
  });
});
