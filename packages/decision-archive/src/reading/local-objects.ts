import { ArchiveError } from '../archive-error';
import { type ObjectStore } from '../store/object-store';

/** Objects as files of this machine. */
export interface LocalObjects {
  /** The paths of objects, in the order of their keys; they stay until `close` is called. */
  open(keys: readonly string[]): Promise<{ readonly paths: readonly string[]; readonly close: () => void }>;
}

/** The files of a store that keeps objects as files. */
export const filesOf = (store: ObjectStore): LocalObjects => ({
  open: (keys) => {
    const paths = keys.map((key) => {
      const path = store.pathOf(key);
      if (path === undefined) throw new ArchiveError('store_failed', `The object "${key}" is no file of this machine.`);
      return path;
    });
    return Promise.resolve({ paths, close: () => undefined });
  },
});
