import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from './source-tree';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'leaks-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Runs one test file with the preset, as a package would, and answers the exit code and what was printed. */
const runFile = (text: string): { status: number | null; output: string } => {
  writeFileSync(join(directory, 'case.test.ts'), text);
  const preset = join(repositoryRoot, 'packages/tooling/jest-preset.js');
  writeFileSync(
    join(directory, 'jest.config.js'),
    `module.exports = { ...require(${JSON.stringify(preset)}), testMatch: ['<rootDir>/*.test.ts'], reporters: ['default'] };`,
  );
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(repositoryRoot, 'node_modules/jest/bin/jest.js'), '--forceExit'],
    { cwd: directory, encoding: 'utf8' },
  );
  return { status, output: `${stdout}${stderr}` };
};

const SERVER = `import { createServer } from 'node:net'; let server: any; beforeAll((done) => { server = createServer().listen(0, '127.0.0.1', done); }); test('x', () => {});`;

it('fails a file that leaves a server open, naming it', () => {
  const { status, output } = runFile(SERVER);
  expect(output).toContain('1 x TCPServerWrap');
  expect(status).toBe(1);
});

it('passes a file that closes it in its own afterAll', () => {
  expect(runFile(`${SERVER} afterAll((done) => { server.close(done); });`)).toMatchObject({ status: 0 });
});
