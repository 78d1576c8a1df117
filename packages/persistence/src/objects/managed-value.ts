import { type ValueType } from '@decision/contracts';
import { type ValueRecord } from '../values/value-record';

/** Which part of an object a value is. */
export interface ManagedKey {
  /** The field. */
  readonly path: string;
  /** The member as JSON text; empty for the collection of the field. */
  readonly member: string;
}

/** A value that an object generates. */
export interface ManagedValue extends ManagedKey, Pick<ValueRecord, 'id' | 'name' | 'content' | 'metadata'> {
  readonly type: Exclude<ValueType, 'function'>;
  readonly archived: boolean;
}

/** New state of a value of an object, which becomes active. */
export interface ManagedChange extends Omit<ManagedValue, 'archived'> {
  /** Whether it was archived. */
  readonly revived: boolean;
  readonly renamed: boolean;
}

/** Everything that changes of an object's values. */
export interface ValuePlan {
  readonly create: readonly Omit<ManagedValue, 'id' | 'archived'>[];
  readonly change: readonly ManagedChange[];
  /** How many are as they should be. */
  readonly unchanged: number;
  readonly archive: readonly { readonly id: string; readonly name: string }[];
  /** Values that give up the name that another needs. They are archived, and the object's no longer. */
  readonly release: readonly { readonly id: string; readonly name: string }[];
}
