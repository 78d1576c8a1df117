import { type FieldType } from '@decision/contracts';
import { type CompiledSchedule } from './schedule';
import { type FieldPath } from './field-path';

/** An input field and where it is found. */
export interface CompiledField {
  readonly path: FieldPath;
  readonly type: FieldType;
}

/** One condition, ready to be asked. */
export interface CompiledCell {
  /** Index into `CompiledRule.fields`. */
  readonly field: number;
  readonly op: string;
  readonly args: readonly unknown[];
  readonly matches: (value: unknown) => boolean;
}

export interface CompiledRow {
  /** Index in the document's `conditions`. */
  readonly index: number;
  readonly cells: readonly CompiledCell[];
  /** Any cell suffices; a row without cells matches all the same. */
  readonly isOr: boolean;
  /** Undefined: always in force. */
  readonly schedule: CompiledSchedule | undefined;
  /** Values by position in `CompiledRule.outputs`; a missing one falls back to the default. */
  readonly outputs: readonly OutputValue[];
}

/** A value that a row gives, null included, or nothing. */
export type OutputValue = { readonly given: true; readonly value: unknown } | { readonly given: false };

export interface CompiledOutput {
  readonly path: FieldPath;
  readonly defaultValue: OutputValue;
}

/** A decision table made ready: immutable, safe to share between requests. */
export interface CompiledRule {
  readonly fields: readonly CompiledField[];
  readonly outputs: readonly CompiledOutput[];
  /** Rows that take part, in the order in which they are tried: higher priority first, then table order. */
  readonly rows: readonly CompiledRow[];
  readonly strictInput: boolean;
}
