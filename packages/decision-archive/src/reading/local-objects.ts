import { ArchiveError } from '../archive-error';
import { type ObjectStore, type StoredObject } from '../store/object-store';

/** Objects as files of this machine. */
export interface LocalObjects {
  /** Says where objects will be, in the order that they are named in. */
  open(objects: readonly StoredObject[]): OpenedObjects;
}

interface OpenedObjects {
  readonly paths: readonly string[];
  /** Makes the files readable: all columns, or all but documents. Rejects where that cannot be done, or not in time. */
  fill(withDocuments: boolean): Promise<void>;
  /** Lets go of the files. */
  close(): void;
}

/** The files of a store that keeps objects as files. */
export const filesOf = (store: ObjectStore): LocalObjects => ({
  open: (objects) => ({
    paths: objects.map(({ key }) => {
      const path = store.pathOf(key);
      if (path === undefined) throw new ArchiveError('store_failed', `The object "${key}" is no file of this machine.`);
      return path;
    }),
    fill: () => Promise.resolve(),
    close: () => undefined,
  }),
});
