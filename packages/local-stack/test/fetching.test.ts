import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findJava } from '../src/broker/java';
import { fetchKafkaJars } from '../src/broker/kafka-jars';
import { findRedis } from '../src/cache/redis-binary';
import { installPackages } from '../src/downloads/debian-packages';
import type { ServerContext } from '../src/server-context';
import { removeTemporaryDirectories, temporaryDirectory } from './temporary-directory';

/** Programs are found on the PATH, so small scripts there stand in for those that use the network. */
describe('what a machine lacks', () => {
  const given = { PATH: process.env['PATH'], JAVA_HOME: process.env['JAVA_HOME'] };
  let programs: string;
  let context: ServerContext;
  let said: string[];

  beforeEach(() => {
    programs = temporaryDirectory();
    said = [];
    process.env['PATH'] = programs;
    process.env['JAVA_HOME'] = '/no/such/place';
    context = {
      server: 'broker',
      directory: temporaryDirectory(),
      downloads: temporaryDirectory(),
      durable: false,
      port: 1,
      signal: new AbortController().signal,
      say: (step, message) => said.push(`${step}: ${message}`),
    };
  });
  afterEach(() => {
    process.env['PATH'] = given.PATH;
    if (given.JAVA_HOME === undefined) delete process.env['JAVA_HOME'];
    else process.env['JAVA_HOME'] = given.JAVA_HOME;
    removeTemporaryDirectories();
  });

  const program = (name: string, script: string): string => {
    const path = join(programs, name);
    writeFileSync(path, `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const calls = (name: string): string[] => {
    const file = join(programs, `${name}.calls`);
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  };
  const recordCalls = 'echo "$@" >>"$0.calls"';
  /** A Maven that puts a file into the directory that it is told. */
  const fakeMaven = `${recordCalls}
for word; do case $word in -DoutputDirectory=*) echo jar >"\${word#*=}/some.jar";; esac; done`;

  it('is fetched by Maven into a folder of its own, once', async () => {
    program('mvn', fakeMaven);
    const folder = await fetchKafkaJars(context);
    expect(folder).toMatch(/kafka-[0-9a-f]{8}$/);
    expect(existsSync(join(folder, 'some.jar'))).toBe(true);
    expect(await fetchKafkaJars(context)).toBe(folder);
    expect(calls('mvn')).toHaveLength(1);
    expect(calls('mvn')[0]).toMatch(/--strict-checksums --file=\S+kafka\/pom\.xml dependency:copy-dependencies /);
    expect(said).toEqual([expect.stringMatching(/^fetch: fetching Apache Kafka/)]);
  });

  it('is told in the words of Maven when that fails, and is not taken for fetched', async () => {
    program('mvn', `echo "[ERROR] no route to host"; exit 1`);
    const failed = fetchKafkaJars(context);
    await expect(failed).rejects.toMatchObject({ code: 'fetch_failed' });
    await expect(failed).rejects.toThrow('no route to host');
    program('mvn', fakeMaven);
    await fetchKafkaJars(context);
  });

  it('is named when it is Maven itself', async () => {
    const failed = fetchKafkaJars(context);
    await expect(failed).rejects.toMatchObject({ code: 'missing_program' });
    await expect(failed).rejects.toThrow(/^Maven fetches the broker once: install Maven/);
  });

  it('is not fetched where a new enough Redis is installed', async () => {
    const redis = program('redis-server', 'echo "Redis server v=7.2.4 sha=0"');
    expect(await findRedis(context)).toBe(redis);
    expect(said).toEqual([]);
  });

  it('is taken from Valkey where Redis is too old', async () => {
    program('redis-server', 'echo "Redis server v=5.0.7 sha=0"');
    const valkey = program('valkey-server', 'echo "Valkey server v=8.0.1 sha=0"');
    expect(await findRedis(context)).toBe(valkey);
  });

  it('is not taken from a damaged archive', async () => {
    program(
      'mvn',
      `${recordCalls}
for word; do case $word in -DoutputDirectory=*) echo jar >"\${word#*=}/embedded-redis-0.9.1.jar";; esac; done`,
    );
    await expect(findRedis(context)).rejects.toThrow(/The archive cannot be read: it is no zip archive/);
    await expect(findRedis(context)).rejects.toMatchObject({ code: 'fetch_failed' });
    expect(calls('mvn')).toHaveLength(2);
  });

  it('is the first Java that is new enough', async () => {
    program('java', 'echo "openjdk version \\"17.0.1\\"" >&2');
    expect(await findJava(context)).toBe(join(programs, 'java'));
  });

  it('is installed from the first package that there is, after one update of the lists', async () => {
    program(
      'apt-get',
      `${recordCalls}
case "$*" in *no-such-package*) echo "E: Unable to locate package" >&2; exit 100;; esac`,
    );
    await Promise.all([installPackages(['no-such-package', 'some-package']), installPackages(['other-package'])]);
    const words = calls('apt-get').map((call) => call.split(' ').slice(3));
    const install = ['install', '--yes', '--no-install-recommends'];
    expect(words).toEqual([
      ['update'],
      [...install, 'no-such-package'],
      [...install, 'some-package'],
      [...install, 'other-package'],
    ]);
    const failed = installPackages(['no-such-package']);
    await expect(failed).rejects.toMatchObject({ code: 'missing_program' });
    await expect(failed).rejects.toThrow(/could not install no-such-package:\nE: Unable to locate package/);
  });
});
