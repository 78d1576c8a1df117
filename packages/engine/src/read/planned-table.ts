import { type FieldType, type HitPolicy } from '@decision/contracts';
import { type CompiledFormula } from '@decision/expressions';
import { type Schedule } from './schedule';
import { type Condition } from '../operators/condition';
import { type Operator } from '../operators/operator-entry';

/** A condition of a row. */
export interface PlannedCell {
  /** Position in `requestSchema`. */
  readonly field: number;
  readonly operator: Operator;
  /** The arguments as written. */
  readonly args: readonly unknown[];
  readonly condition: Condition;
  /** Whether arguments refer to values, so that the condition changes with these values. */
  readonly isMoving: boolean;
}

/** Content of an output field: a value, a value that may change, or the result of a formula. */
export type PlannedOutput =
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'reference'; readonly template: unknown }
  | { readonly kind: 'formula'; readonly formula: CompiledFormula };

export interface PlannedRow {
  /** Index in `conditions`. */
  readonly index: number;
  /** A disabled row does not take part, but it may determine the turn of its group. */
  readonly isEnabled: boolean;
  readonly priority: number;
  readonly groupId: string | undefined;
  readonly isOr: boolean;
  readonly schedule: Schedule | undefined;
  readonly cells: readonly PlannedCell[];
  /** By position in `responseSchema`; undefined if the row has no output there. */
  readonly outputs: readonly (PlannedOutput | undefined)[];
}

export interface PlannedField {
  readonly key: string;
  readonly type: FieldType;
  /** Default of a missing value; undefined if there is none. */
  readonly fallback: PlannedOutput | undefined;
}

export interface PlannedGroup {
  readonly id: string;
  readonly policy: HitPolicy;
  /** By position in `responseSchema`: how the values of the matching rows are combined. */
  readonly accumulators: ReadonlyMap<number, CompiledFormula>;
}

/** A table that has been read: everything in it is well-formed. */
export interface PlannedTable {
  readonly inputs: readonly PlannedField[];
  readonly outputs: readonly PlannedField[];
  /** In table order. */
  readonly rows: readonly PlannedRow[];
  readonly groups: ReadonlyMap<string, PlannedGroup>;
  /** Ids of function values by the names under which formulas call them. */
  readonly functionIds: ReadonlyMap<string, string>;
  readonly strictInput: boolean;
}
