import { runPackage } from './package-run';

const SERVER = `import { createServer } from 'node:net'; let server: any; beforeAll((done) => { server = createServer().listen(0, '127.0.0.1', done); }); test('x', () => {});`;

it('fails a file that leaves a server open, naming it', () => {
  const { status, counts } = runPackage({ 'case.test.ts': SERVER });
  expect(counts).toMatchObject({ passed: 1, failed: 1, failures: [{ file: 'case.test.ts' }] });
  expect(JSON.stringify(counts)).toContain('1 x TCPServerWrap');
  expect(status).toBe(1);
});

it('passes a file that closes it in its own afterAll', () => {
  const { status } = runPackage({ 'case.test.ts': `${SERVER} afterAll((done) => { server.close(done); });` });
  expect(status).toBe(0);
});

it('ends the intervals of a file before the next one begins', () => {
  const { status, counts } = runPackage({
    // The larger file runs first.
    'first.test.ts': `test('leaves an interval', () => { setInterval(() => { throw new Error('It ran in another file.'); }, 200).unref(); });`,
    'second.test.ts': `test('waits', (done) => { setTimeout(done, 1_000); });`,
  });
  expect(counts).toMatchObject({ passed: 2, failed: 0 });
  expect(status).toBe(0);
});
