import { createHash } from 'node:crypto';
import { existsSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tryLock } from '../process/lock-file';
import { runProgram } from '../process/run-program';

const DUMP_DEADLINE_MS = 60_000;
const NAME_LENGTH = 8;

/**
 * The broker's classes as Java maps them into memory, in a file beside the jars: a start that finds it takes half the processor time.
 * Every start works without it.
 */
export interface ClassArchive {
  /** Options for Java as things stand: to use the archive, or to be able to {@link make} it, or neither. */
  options(): readonly string[];
  /** Has a broker that has just started write the archive, unless it is there or somebody else does. Never rejects. */
  make(pid: number): Promise<void>;
}

/** The archive for these jars and this Java. It is made only where `isMade` says so, else just used where there is one. */
export const classArchive = (java: string, jars: string, isMade: boolean): ClassArchive => {
  const program = realpathSync(java);
  const archive = `${jars}-${nameOfProgram(program)}.jsa`;
  const dumper = join(dirname(program), 'jcmd'); // a JRE has none
  const canMake = isMade && existsSync(dumper);
  return {
    options: () => {
      // An archive that does not fit is passed over, in silence.
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

/** Another name for each installation of Java: an archive fits one alone. */
const nameOfProgram = (program: string): string =>
  createHash('sha256')
    .update(`${program} ${statSync(program).mtimeMs}`)
    .digest('hex')
    .slice(0, NAME_LENGTH);
