import { procFiles } from './proc-files';
import type { ProcessSource } from './process-source';
import { psProgram } from './ps-program';

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
