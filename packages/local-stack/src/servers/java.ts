import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { canInstallPackages, installPackages } from '../downloads/debian-packages';
import { tryLock } from '../process/lock-file';
import { findProgram, isExecutable, runProgram } from '../process/run-program';
import type { ServerContext } from '../server-recipe';
import { StackError } from '../stack-options';

const OLDEST_MAJOR = 17;
const DEBIAN_PACKAGES = ['openjdk-17-jre-headless', 'openjdk-21-jre-headless', 'default-jre-headless'];

/** A folder of Java installations, as package managers make them, and the path of the program in each. */
interface JavaFolder {
  readonly folder: string;
  readonly program: string;
}

const FOLDERS: readonly JavaFolder[] = [
  { folder: '/usr/lib/jvm', program: 'bin/java' },
  { folder: '/Library/Java/JavaVirtualMachines', program: 'Contents/Home/bin/java' },
  { folder: '/opt/homebrew/opt', program: 'bin/java' },
  { folder: '/usr/local/opt', program: 'bin/java' },
];

/**
 * A `java` of version 17 or newer: that of JAVA_HOME, of the PATH, or of the usual folders. If there is none, it is installed on Debian as
 * root. @throws {StackError} `missing_program`.
 */
export const findJava = async (context: ServerContext, folders = FOLDERS): Promise<string> => {
  const found = await newEnoughJava(folders, context.signal);
  if (found.command !== undefined) return found.command;
  if (canInstallPackages()) {
    context.say('install', 'installing a Java runtime');
    await installPackages(DEBIAN_PACKAGES, context.signal);
    const installed = await newEnoughJava(folders, context.signal);
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
  /** Major version of the newest Java found; 0 for none. */
  readonly newest: number;
}

const newEnoughJava = async (folders: readonly JavaFolder[], signal: AbortSignal): Promise<JavaSearch> => {
  let newest = 0;
  for (const command of candidates(folders)) {
    const { output } = await runProgram({ command, args: ['-version'], deadlineMs: 20_000, signal });
    newest = Math.max(newest, majorVersion(output));
    if (newest >= OLDEST_MAJOR) return { command, newest };
  }
  return { command: undefined, newest };
};

/** JAVA_HOME comes before the PATH, and the PATH before the usual folders. */
const candidates = (folders: readonly JavaFolder[]): string[] => {
  const home = process.env['JAVA_HOME'];
  const onPath = findProgram('java');
  return [
    ...(home === undefined ? [] : [join(home, 'bin', 'java')]),
    ...(onPath === undefined ? [] : [onPath]),
    ...folders.flatMap(({ folder, program }) => namesIn(folder).map((name) => join(folder, name, program))),
  ].filter(isExecutable);
};

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return []; // There is no such folder on this machine.
  }
};

/** Reads the answer of `java -version`: 17 for `openjdk version "17.0.15"`, 8 for `java version "1.8.0_392"`, else 0. */
export const majorVersion = (answer: string): number => {
  const [, first = '0', second] = /version "(\d+)(?:\.(\d+))?/.exec(answer) ?? [];
  return first === '1' && second !== undefined ? Number(second) : Number(first);
};

/** Java reads file names in the locale's encoding: under the C locale it cannot open a path with an accent. */
export const javaEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  LC_ALL: process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8',
});

const DUMP_DEADLINE_MS = 60_000;
const NAME_LENGTH = 8;

/**
 * An archive of the broker's classes that Java maps into memory, in a file beside the jars: with it a start takes half the processor time.
 * Every start works without it.
 */
export interface ClassArchive {
  /** Options for Java: to use the archive if it exists, to allow {@link make} if it may be made, else none. */
  options(): readonly string[];
  /** Makes a newly started broker write the archive, unless it exists or another process is writing it. Never rejects. */
  make(pid: number): Promise<void>;
}

/** The archive for these jars and this Java. With `isMade` it is written if missing; without, it is only used. */
export const classArchive = (java: string, jars: string, isMade: boolean): ClassArchive => {
  const program = realpathSync(java);
  const archive = `${jars}-${nameOfProgram(program)}.jsa`;
  const dumper = join(dirname(program), 'jcmd'); // a JRE has none
  const canMake = isMade && existsSync(dumper);
  return {
    options: () => {
      // Java ignores an archive that does not match, and these options suppress its warning.
      if (existsSync(archive)) return [`-XX:SharedArchiveFile=${archive}`, '-Xlog:cds=off', '-Xlog:cds+dynamic=off'];
      return canMake ? ['-XX:+IgnoreUnrecognizedVMOptions', '-XX:+RecordDynamicDumpInfo', '-Xlog:cds=off'] : [];
    },
    make: async (pid) => {
      if (!canMake || existsSync(archive)) return;
      const lock = tryLock(`${archive}.lock`);
      if (lock.kind === 'held') return;
      const partial = `${archive}.partial`;
      try {
        rmSync(partial, { force: true }); // of a process that was killed
        await runProgram({
          command: dumper,
          args: [String(pid), 'VM.cds', 'dynamic_dump', partial],
          deadlineMs: DUMP_DEADLINE_MS,
        });
        if (existsSync(partial)) renameSync(partial, archive);
      } catch {
        // It took too long; the next broker tries again.
      } finally {
        rmSync(partial, { force: true });
        lock.release();
      }
    },
  };
};

/** A different name for each installation of Java, since an archive works only with the one that wrote it. */
const nameOfProgram = (program: string): string =>
  createHash('sha256')
    .update(`${program} ${statSync(program).mtimeMs}`)
    .digest('hex')
    .slice(0, NAME_LENGTH);
