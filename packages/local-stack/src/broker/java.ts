import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { canInstallPackages, installPackages } from '../downloads/debian-packages';
import { findProgram, isExecutable } from '../process/find-program';
import { runProgram } from '../process/run-program';
import type { ServerContext } from '../server-context';
import { StackError } from '../stack-error';

const OLDEST_MAJOR = 17;
const DEBIAN_PACKAGES = ['openjdk-17-jre-headless', 'openjdk-21-jre-headless', 'default-jre-headless'];

/** A folder of Java installations, as package managers make them, and where each one keeps its program. */
interface JavaPlace {
  readonly folder: string;
  readonly program: string;
}

const PLACES: readonly JavaPlace[] = [
  { folder: '/usr/lib/jvm', program: 'bin/java' },
  { folder: '/Library/Java/JavaVirtualMachines', program: 'Contents/Home/bin/java' },
  { folder: '/opt/homebrew/opt', program: 'bin/java' },
  { folder: '/usr/local/opt', program: 'bin/java' },
];

/**
 * A `java` of version 17 or newer: that of JAVA_HOME, of the PATH, or of the usual places. On Debian as root it is installed
 * where there is none.
 * @throws {StackError} `missing_program`.
 */
export const findJava = async (context: ServerContext, places = PLACES): Promise<string> => {
  const found = await newEnoughJava(places, context.signal);
  if (found.command !== undefined) return found.command;
  if (canInstallPackages()) {
    context.say('install', 'installing a Java runtime');
    await installPackages(DEBIAN_PACKAGES, context.signal);
    const installed = await newEnoughJava(places, context.signal);
    if (installed.command !== undefined) return installed.command;
  }
  const seen = found.newest === 0 ? '' : `, and the newest found is ${found.newest}`;
  throw new StackError(
    'missing_program',
    `Kafka needs Java 17 or newer${seen}: install a JDK or JRE, and put java on the PATH or set JAVA_HOME.`,
  );
};

interface JavaSearch {
  readonly command: string | undefined;
  /** Major version of the newest Java that was found; 0 for none. */
  readonly newest: number;
}

const newEnoughJava = async (places: readonly JavaPlace[], signal: AbortSignal): Promise<JavaSearch> => {
  let newest = 0;
  for (const command of candidates(places)) {
    const { output } = await runProgram({ command, args: ['-version'], deadlineMs: 20_000, signal });
    newest = Math.max(newest, majorVersion(output));
    if (newest >= OLDEST_MAJOR) return { command, newest };
  }
  return { command: undefined, newest };
};

/** The engineer's own choice first. */
const candidates = (places: readonly JavaPlace[]): string[] => {
  const home = process.env['JAVA_HOME'];
  const onPath = findProgram('java');
  return [
    ...(home === undefined ? [] : [join(home, 'bin', 'java')]),
    ...(onPath === undefined ? [] : [onPath]),
    ...places.flatMap(({ folder, program }) => namesIn(folder).map((name) => join(folder, name, program))),
  ].filter(isExecutable);
};

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return []; // No such place on this machine.
  }
};

/** Reads the answer of `java -version`: 17 for `openjdk version "17.0.15"`, 8 for `java version "1.8.0_392"`, else 0. */
export const majorVersion = (answer: string): number => {
  const [, first = '0', second] = /version "(\d+)(?:\.(\d+))?/.exec(answer) ?? [];
  return first === '1' && second !== undefined ? Number(second) : Number(first);
};
