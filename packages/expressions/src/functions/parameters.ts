import { isInstant, isList, isPlainObject, type PlainObject, readIsoDate } from '@decision/values';
import { type Lambda } from '../run/lambda';
import { type Pattern } from '../text/pattern';
import { type CallSite } from './call-site';

/**
 * Form of an argument before the formula runs: a value; a lambda (or a selector in quotes, a formula over the fields of one element); or a regular
 * expression, written as a string in the formula itself.
 */
export type ArgumentForm = 'value' | 'lambda' | 'pattern';

/** One parameter of a catalogue function: how its argument is checked and what the function gets. */
export interface Parameter<Value = unknown> {
  readonly name: string;
  /** For the documentation. */
  readonly type: string;
  readonly form: ArgumentForm;
  readonly optional: boolean;
  readonly read: (value: unknown, site: CallSite, index: number) => Value;
}

const value = <Value>(name: string, type: string, read: Parameter<Value>['read']): Parameter<Value> => ({
  name,
  type,
  form: 'value',
  optional: false,
  read,
});

/** A parameter that may be left out; the function gets undefined then. */
export const optional = <Value>(parameter: Parameter<Value>): Parameter<Value | undefined> => ({
  ...parameter,
  optional: true,
});

export const anything = (name = 'value'): Parameter => value(name, 'any', (given) => given);

export const number = (name: string): Parameter<number> =>
  value(name, 'number', (given, site, index) =>
    typeof given === 'number' ? given : site.failType(index, 'a number', given),
  );

/** A whole number between two bounds, both included. */
export const integer = (name: string, least: number, most: number): Parameter<number> =>
  value(name, 'whole number', (given, site, index) => {
    if (typeof given !== 'number') return site.failType(index, 'a whole number', given);
    if (Number.isInteger(given) && given >= least && given <= most) return given;
    return site.fail('out_of_range', `${name} must be a whole number from ${least} to ${most}`, index);
  });

export const string = (name = 'text'): Parameter<string> =>
  value(name, 'string', (given, site, index) =>
    typeof given === 'string' ? given : site.failType(index, 'a string', given),
  );

export const list = (name = 'list'): Parameter<readonly unknown[]> =>
  value(name, 'list', (given, site, index) => (isList(given) ? given : site.failType(index, 'a list', given)));

export const listOrString = (name: string): Parameter<readonly unknown[] | string> =>
  value(name, 'list or string', (given, site, index) =>
    typeof given === 'string' || isList(given) ? given : site.failType(index, 'a list or a string', given),
  );

export const object = (name = 'object'): Parameter<PlainObject> =>
  value(name, 'object', (given, site, index) =>
    isPlainObject(given) ? given : site.failType(index, 'an object', given),
  );

/** A moment: an ISO 8601 string or epoch milliseconds, of the years 0000 to 9999. The function gets epoch milliseconds. */
export const date = (name = 'date'): Parameter<number> =>
  value(name, 'date', (given, site, index) => {
    const moment = typeof given === 'string' ? readIsoDate(given) : given;
    if (moment === undefined)
      return site.fail('invalid_value', 'the string is no ISO 8601 date, or no such day or time exists', index);
    if (typeof moment !== 'number') return site.failType(index, 'a date', given);
    if (isInstant(moment)) return moment;
    return site.fail('out_of_range', 'dates lie in the years 0000 to 9999', index);
  });

export const lambda = (name = 'condition'): Parameter<Lambda> => ({
  name,
  type: 'lambda',
  form: 'lambda',
  optional: false,
  read: (given) => given as Lambda, // an argument of this form is compiled to a lambda, or fails before it is read
});

export const pattern = (name = 'pattern'): Parameter<Pattern> => ({
  name,
  type: 'regular expression',
  form: 'pattern',
  optional: false,
  read: (given) => given as Pattern, // an argument of this form is compiled to a pattern, or fails before it is read
});
