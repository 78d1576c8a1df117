import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { canInstallPackages, installPackages } from '../downloads/debian-packages';
import { findProgram, isExecutable } from '../process/find-program';
import { runProgram } from '../process/run-program';
import type { ServerContext } from '../server-context';
import { StackError } from '../stack-error';

const OLDEST_MAJOR = 17;
const DEBIAN_PACKAGES = ['openjdk-17-jre-headless', 'openjdk-21-jre-headless', 'default-jre-headless'];

/** A `java` of version 17 or newer; on Debian as root it is installed where there is none. */
export const findJava = async (context: ServerContext): Promise<string> => {
  const found = await newEnoughJava(context.signal);
  if (found.command !== undefined) return found.command;
  if (canInstallPackages()) {
    context.say('install', 'installing a Java runtime');
    await installPackages(DEBIAN_PACKAGES, context.signal);
    const installed = await newEnoughJava(context.signal);
    if (installed.command !== undefined) return installed.command;
  }
  throw new StackError(
    'missing_program',
    found.newest === 0
      ? 'Kafka needs Java: install a JDK or JRE 17 or newer, and put java on the PATH or set JAVA_HOME.'
      : `Kafka needs Java 17 or newer, and the newest found is ${found.newest}: install one, and put its java on the PATH or set JAVA_HOME.`,
  );
};

interface JavaSearch {
  readonly command: string | undefined;
  /** Major version of the newest Java that was found; 0 for none. */
  readonly newest: number;
}

const newEnoughJava = async (signal: AbortSignal): Promise<JavaSearch> => {
  let newest = 0;
  for (const command of candidates()) {
    const { output } = await runProgram({ command, args: ['-version'], deadlineMs: 20_000, signal });
    const major = majorVersion(output);
    if (major >= OLDEST_MAJOR) return { command, newest: major };
    newest = Math.max(newest, major);
  }
  return { command: undefined, newest };
};

/** The engineer's own choice first, then the places where package managers put what is not on the PATH. */
const candidates = (): string[] => {
  const home = process.env['JAVA_HOME'];
  const onPath = findProgram('java');
  return [
    ...(home === undefined ? [] : [join(home, 'bin', 'java')]),
    ...(onPath === undefined ? [] : [onPath]),
    ...foldersIn('/usr/lib/jvm').map((folder) => join(folder, 'bin', 'java')),
    ...foldersIn('/Library/Java/JavaVirtualMachines').map((folder) => join(folder, 'Contents', 'Home', 'bin', 'java')),
    '/opt/homebrew/opt/openjdk/bin/java',
    '/usr/local/opt/openjdk/bin/java',
  ].filter(isExecutable);
};

const foldersIn = (directory: string): string[] => {
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    return []; // No such place on this machine.
  }
};

/** Reads the answer of `java -version`: 17 for `openjdk version "17.0.15"`, 8 for `java version "1.8.0_392"`, else 0. */
export const majorVersion = (answer: string): number => {
  const [, first = '0', second] = /version "(\d+)(?:\.(\d+))?/.exec(answer) ?? [];
  return first === '1' && second !== undefined ? Number(second) : Number(first);
};
