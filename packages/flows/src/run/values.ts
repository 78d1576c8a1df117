import { defineOwn, type FieldPath, isObject, readOwn } from '@decision/engine';
import { instantOf, isMissing, isPlainObject } from '@decision/values';
import { type Collector, type GateSource, type InputPlan, type OutputPlan, type Source } from '../plan';
import { type EdgeType } from '../wiring';
import { type Frame, RAN } from './frame';
import { FlowFault } from './outcome';

/** Whether one of the gates is open; without gates, always (FL-21). */
export const isOpen = (gates: readonly GateSource[], frame: Frame): boolean =>
  gates.length === 0 || gates.some(({ up, step }) => frame.outwards(up).states[step] === RAN);

/** A value of a source that did not run. */
const SKIPPED_SOURCE = Symbol('skipped');

const valueOf = ({ up, step, from, path, type }: Source, reader: Frame): unknown => {
  const frame = reader.outwards(up);
  switch (from) {
    case 'item':
      return frame.item;
    case 'index':
      return frame.index;
    case 'member': {
      const value = isObject(frame.item) ? readOwn(frame.item, path) : undefined;
      if (!fitsType(value, type))
        throw mismatch(`The member "${path.key}" of item ${frame.index}`, type, value, path.key);
      return value;
    }
    default:
  }
  if (frame.states[step] !== RAN) return SKIPPED_SOURCE;
  const value = from === 'request' ? frame.activation.input : frame.values[step];
  return isObject(value) ? readOwn(value, path) : undefined;
};

/** The values that enter a step, by input; undefined if all their nodes were skipped (FL-22, FL-23). */
export const gather = (inputs: readonly InputPlan[], frame: Frame): unknown[] | undefined => {
  let ran = inputs.length === 0;
  const values: unknown[] = [];
  for (const { sources, type, key } of inputs) {
    let value: unknown;
    for (const source of sources) {
      const candidate = valueOf(source, frame);
      if (candidate === SKIPPED_SOURCE) continue;
      ran = true;
      if (isMissing(candidate)) continue;
      value = candidate;
      break;
    }
    if (!fitsType(value, type)) throw mismatch(`The input "${key}"`, type, value, key);
    values.push(value);
  }
  return ran ? values : undefined;
};

/** The values by the keys of their inputs; keys with dots make nested objects. Missing ones are left out. */
export const asObject = (inputs: readonly InputPlan[], values: readonly unknown[]): Record<string, unknown> => {
  const object: Record<string, unknown> = {};
  for (let position = 0; position < inputs.length; position += 1) {
    const value = values[position];
    const path = inputs[position]?.path;
    if (!isMissing(value) && path !== undefined) writeMember(object, path, value);
  }
  return object;
};

/**
 * Sets a member of an object that the caller made; a path with dots makes nested objects. Existing objects that others own are copied, and
 * other values are replaced.
 */
export const writeMember = (target: Record<string, unknown>, { segments }: FieldPath, value: unknown): void => {
  const last = segments.length - 1;
  let owner = target;
  for (let at = 0; at < last; at += 1) {
    const key = segments[at] ?? '';
    const known = Object.hasOwn(owner, key) ? owner[key] : undefined;
    const child: Record<string, unknown> = isPlainObject(known) ? { ...known } : {};
    defineOwn(owner, key, child);
    owner = child;
  }
  defineOwn(owner, segments[last] ?? '', value);
};

/** Checks a node's outputs against its declared types (FL-31). */
export const checkOutputs = (outputs: readonly OutputPlan[], given: unknown): void => {
  if (!isObject(given)) return;
  for (const { path, key, type } of outputs) {
    const value = readOwn(given, path);
    if (!fitsType(value, type)) throw mismatch(`The output "${key}"`, type, value, key);
  }
};

/** Whether a value fits a type; a missing one always does. */
export const fitsType = (value: unknown, type: EdgeType): boolean => {
  if (isMissing(value)) return true;
  switch (type) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    case 'date':
      return !Number.isNaN(instantOf(value));
    case 'list':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    default:
      return true;
  }
};

export const mismatch = (subject: string, expected: EdgeType, value: unknown, field: string): FlowFault => {
  const came = Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;
  return new FlowFault(`${subject} must be of type ${expected}, not ${came}.`, {
    reason: 'wrong_type',
    field,
    expected,
    came,
  });
};

/** The values that an aggregate takes from a finished item; undefined if the item is left out (FL-44, FL-47). */
export const collect = (
  { inputs, gates, filters }: Collector,
  frame: Frame,
  now: number,
): readonly unknown[] | undefined => {
  if (!isOpen(gates, frame)) return undefined;
  const values = gather(inputs, frame);
  if (values === undefined || values.every(isMissing)) return undefined;
  const counts = filters.every(({ key, holds }) => holds(values[inputs.findIndex((input) => input.key === key)], now));
  return counts ? values : undefined;
};
