import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { classArchive } from './class-archive';

const directory = mkdtempSync(join(tmpdir(), 'class-archive-'));
const jars = join(directory, 'kafka-1');
afterEach(() => {
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
});
afterAll(() => rmSync(directory, { recursive: true }));

/** An installation of Java whose program for diagnoses does what is given with the path of the archive, its last argument. */
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

it('is written by the first broker and used by the next', async () => {
  const archive = classArchive(installation('java-17', 'echo "$1 $2 $3" > "$4"'), jars, true);
  expect([recorded(archive.options()), used(archive.options())]).toEqual([true, false]);
  await archive.make(7);
  expect(archives()).toEqual([expect.stringMatching(/^kafka-1-[0-9a-f]{8}\.jsa$/)]);
  expect([recorded(archive.options()), used(archive.options())]).toEqual([false, true]);
});

it('is used by those that must not make it, and made by none of them', async () => {
  const java = installation('java-17', 'echo > "$4"');
  const reader = classArchive(java, jars, false);
  await reader.make(7);
  expect(reader.options()).toEqual([]);
  await classArchive(java, jars, true).make(7);
  expect(used(reader.options())).toBe(true);
});

it('is another one for another Java', async () => {
  await classArchive(installation('java-17', 'echo > "$4"'), jars, true).make(7);
  expect(used(classArchive(installation('java-21'), jars, true).options())).toBe(false);
});

it('is done without where Java has no program for it, or that fails', async () => {
  const bare = classArchive(installation('jre'), jars, true);
  await bare.make(7);
  expect(bare.options()).toEqual([]);
  await classArchive(installation('broken', 'exit 1'), jars, true).make(7);
  expect(archives()).toEqual([]);
});

it('is left to whoever is writing it', async () => {
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
