import { procFiles } from './proc-files';
import { psProgram } from './ps-program';

/** Where an operating system tells about its processes. */
export interface ProcessSource {
  /**
   * What distinguishes a process from a later one with the same id: when it began; without spaces. Undefined when no such
   * process lives; one that has ended and only waits to be collected does not live.
   */
  identityOf(pid: number): string | undefined;
  /** The parent of each process. */
  parents(): ReadonlyMap<number, number>;
}

const system: ProcessSource = process.platform === 'linux' ? procFiles : psProgram;

/** See {@link ProcessSource.identityOf}. */
export const identityOf = (pid: number): string | undefined => system.identityOf(pid);

/** Whether the process that once had this identity still lives. */
export const isSameProcess = (pid: number, identity: string): boolean => identityOf(pid) === identity;

/** Every process below this one, parents before their children. */
export const descendantsOf = (pid: number, source = system): number[] => {
  const parents = source.parents();
  const found: number[] = [];
  const queue = [pid];
  for (let parent = queue.shift(); parent !== undefined; parent = queue.shift()) {
    for (const [child, itsParent] of parents) {
      if (itsParent !== parent) continue;
      found.push(child);
      queue.push(child);
    }
  }
  return found;
};
