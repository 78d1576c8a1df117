import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { classArchive, majorVersion } from './java';

describe('majorVersion', () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17],
    ['openjdk version "21" 2023-09-19', 21],
    ['openjdk version "26-ea" 2026-03-17', 26],
    ['java version "11.0.2" 2019-01-15 LTS', 11],
    ['java version "1.8.0_392"', 8],
    ['Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "17.0.1"', 17],
    ['The operation couldn’t be completed. Unable to locate a Java Runtime.', 0],
    ['', 0],
  ])('of %j is %d', (answer, expected) => {
    expect(majorVersion(answer)).toBe(expected);
  });
});

const directory = mkdtempSync(join(tmpdir(), 'class-archive-'));
const jars = join(directory, 'kafka-1');
afterEach(() => {
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
});
afterAll(() => rmSync(directory, { recursive: true }));

/** A Java installation whose diagnostic program runs the given commands with the path of the archive as its last argument. */
const installation = (name: string, dump?: string): string => {
  const programs = join(directory, name);
  mkdirSync(programs);
  writeFileSync(join(programs, 'java'), '');
  if (dump !== undefined) {
    writeFileSync(join(programs, 'jcmd'), `#!/bin/sh\n${dump}\n`);
    chmodSync(join(programs, 'jcmd'), 0o755);
  }
  return join(programs, 'java');
};

const archives = (): string[] => readdirSync(directory).filter((name) => /jsa|partial|lock/.test(name));
const used = (options: readonly string[]): boolean => options.some((option) => option.includes('SharedArchiveFile'));
const recorded = (options: readonly string[]): boolean => options.includes('-XX:+RecordDynamicDumpInfo');

it('the class archive is written by the first broker and used by the next', async () => {
  const archive = classArchive(installation('java-17', 'echo "$1 $2 $3" > "$4"'), jars, true);
  expect([recorded(archive.options()), used(archive.options())]).toEqual([true, false]);
  await archive.make(7);
  expect(archives()).toEqual([expect.stringMatching(/^kafka-1-[0-9a-f]{8}\.jsa$/)]);
  expect([recorded(archive.options()), used(archive.options())]).toEqual([false, true]);
});

it('the class archive is used, and never written, by brokers that may not write it', async () => {
  const java = installation('java-17', 'echo > "$4"');
  const reader = classArchive(java, jars, false);
  await reader.make(7);
  expect(reader.options()).toEqual([]);
  await classArchive(java, jars, true).make(7);
  expect(used(reader.options())).toBe(true);
});

it('the class archive of one Java is not used by another', async () => {
  await classArchive(installation('java-17', 'echo > "$4"'), jars, true).make(7);
  expect(used(classArchive(installation('java-21'), jars, true).options())).toBe(false);
});

it('no class archive is used if Java cannot write one, or fails to', async () => {
  const bare = classArchive(installation('jre'), jars, true);
  await bare.make(7);
  expect(bare.options()).toEqual([]);
  await classArchive(installation('broken', 'exit 1'), jars, true).make(7);
  expect(archives()).toEqual([]);
});

it('the class archive is written by one broker at a time', async () => {
  const go = join(directory, 'go');
  const dump = `while [ ! -e ${go} ]; do sleep 0.01; done; echo > "$4"`;
  const archive = classArchive(installation('java-17', dump), jars, true);
  const first = archive.make(7);
  await archive.make(8);
  expect(used(archive.options())).toBe(false);
  writeFileSync(go, '');
  await first;
  expect(used(archive.options())).toBe(true);
});
