import { ArchiveError } from '../archive-error';
import { type ObjectStore, type StoredObject } from '../store/object-store';

/** Objects as files of this machine. */
export interface LocalObjects {
  /** The expected paths of the objects, in their order. */
  open(objects: readonly StoredObject[]): OpenedObjects;
}

interface OpenedObjects {
  readonly paths: readonly string[];
  /** Makes the files readable: all columns, or all except documents. Rejects if that fails or takes too long. */
  fill(withDocuments: boolean): Promise<void>;
  /** Releases the files. */
  close(): void;
}

/** The files of a store that keeps objects as files. */
export const filesOf = (store: ObjectStore): LocalObjects => ({
  open: (objects) => ({
    paths: objects.map(({ key }) => {
      const path = store.pathOf(key);
      if (path === undefined)
        throw new ArchiveError('store_failed', `The object "${key}" is not a file on this machine.`);
      return path;
    }),
    fill: () => Promise.resolve(),
    close: () => undefined,
  }),
});
