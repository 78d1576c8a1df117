import { type ManagingObject } from './value-record';

/** Values that an object generates are changed by the object alone. */
export interface ManagedRefusal {
  readonly status: 'managed';
  /** Name of the first such value. */
  readonly name: string;
  readonly object: ManagingObject;
}

/** Facts about a locked value that decide whether it may be written by hand. */
interface LockedValue {
  readonly name: string;
  readonly object_id: string | null;
  readonly object_name: string | null;
}

/** Undefined where no object generates any of these values. */
export const refusalOf = (values: readonly LockedValue[]): ManagedRefusal | undefined => {
  for (const { name, object_id: id, object_name } of values) {
    if (id !== null) return { status: 'managed', name, object: { id, name: object_name ?? '' } };
  }
  return undefined;
};
