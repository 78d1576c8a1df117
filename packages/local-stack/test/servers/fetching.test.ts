import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canInstallPackages } from '../../src/downloads/debian-packages';
import type { ServerContext } from '../../src/server-recipe';
import { fetchKafkaJars } from '../../src/servers/broker-server';
import { findRedis } from '../../src/servers/cache-server';
import { findJava } from '../../src/servers/java';
import { removeTemporaryDirectories, temporaryDirectory } from '../temporary-directory';

/** Programs are found on the PATH, so small scripts there replace those that use the network. */
describe('programs that are fetched or found', () => {
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

  it('fetches Kafka with Maven into its own folder, once', async () => {
    program('mvn', fakeMaven);
    const folder = await fetchKafkaJars(context);
    expect(folder).toMatch(/kafka-[0-9a-f]{8}$/);
    expect(existsSync(join(folder, 'some.jar'))).toBe(true);
    expect(await fetchKafkaJars(context)).toBe(folder);
    expect(calls('mvn')).toHaveLength(1);
    expect(calls('mvn')[0]).toMatch(/--strict-checksums --file=\S+kafka\/pom\.xml dependency:copy-dependencies /);
    expect(said).toEqual([expect.stringMatching(/^fetch: fetching Apache Kafka/)]);
  });

  it('reports the output of a failing Maven, and fetches again the next time', async () => {
    program('mvn', `echo "[ERROR] no route to host"; exit 1`);
    const failed = fetchKafkaJars(context);
    await expect(failed).rejects.toMatchObject({ code: 'fetch_failed' });
    await expect(failed).rejects.toThrow('no route to host');
    program('mvn', fakeMaven);
    await fetchKafkaJars(context);
  });

  it('asks for Maven if it is missing', async () => {
    const failed = fetchKafkaJars(context);
    await expect(failed).rejects.toMatchObject({ code: 'missing_program' });
    await expect(failed).rejects.toThrow(/^Maven fetches the broker once: install Maven/);
  });

  it('uses an installed Redis that is new enough', async () => {
    const redis = program('redis-server', 'echo "Redis server v=7.2.4 sha=0"');
    expect(await findRedis(context)).toBe(redis);
    expect(said).toEqual([]);
  });

  it('uses Valkey if the installed Redis is too old', async () => {
    program('redis-server', 'echo "Redis server v=5.0.7 sha=0"');
    const valkey = program('valkey-server', 'echo "Valkey server v=8.0.1 sha=0"');
    expect(await findRedis(context)).toBe(valkey);
  });

  it('rejects a damaged archive, and fetches it again the next time', async () => {
    program(
      'mvn',
      `${recordCalls}
for word; do case $word in -DoutputDirectory=*) echo jar >"\${word#*=}/embedded-redis-0.9.1.jar";; esac; done`,
    );
    await expect(findRedis(context)).rejects.toThrow(/The archive cannot be read: .*not a zip file/);
    await expect(findRedis(context)).rejects.toMatchObject({ code: 'fetch_failed' });
    expect(calls('mvn')).toHaveLength(2);
  });

  const java = (version: string): string => `echo 'openjdk version "${version}" 2025-01-01' >&2`;

  it('uses the Java on the PATH if it is new enough', async () => {
    const command = program('java', java('17.0.1'));
    expect(await findJava(context, [])).toBe(command);
  });

  it('looks for Java where package managers install it when the one on the PATH is too old', async () => {
    program('java', java('11.0.2'));
    mkdirSync(join(programs, 'jdk-21/bin'), { recursive: true });
    const newer = program('jdk-21/bin/java', java('21'));
    expect(await findJava(context, [{ folder: programs, program: 'bin/java' }])).toBe(newer);
  });

  it.each([
    ['nothing', undefined, /^Kafka needs Java 17 or newer: install a JDK or JRE/],
    ['an old one', '1.8.0_392', /^Kafka needs Java 17 or newer, and the newest found is 8: install a JDK or JRE/],
  ])('asks for Java if there is %s', async (_what, version, sentence) => {
    if (version !== undefined) program('java', java(version));
    const failed = findJava(context, []);
    await expect(failed).rejects.toMatchObject({ code: 'missing_program' });
    await expect(failed).rejects.toThrow(sentence);
  });

  it('installs Java if this process may, and asks for it otherwise', async () => {
    const installed = join(programs, 'java');
    program('apt-get', `cat >${installed} <<'END'\n#!/bin/sh\n${java('17.0.9')}\nEND\nchmod 755 ${installed}`);
    if (canInstallPackages()) {
      expect(await findJava(context, [])).toBe(installed);
      expect(said).toEqual(['install: installing a Java runtime']);
    } else {
      await expect(findJava(context, [])).rejects.toMatchObject({ code: 'missing_program' });
    }
  });
});
