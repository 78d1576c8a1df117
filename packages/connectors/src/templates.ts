import { Secret } from '@decision/flows';
import { isMissing, isPlainObject } from '@decision/values';
import { ConnectorFailure } from './connector';

type Inputs = Readonly<Record<string, unknown>>;

/** The value at a dotted path of members and list indexes; undefined if there is none. */
export const inputAt = (inputs: Inputs, path: string): unknown => {
  if (Object.hasOwn(inputs, path)) return inputs[path];
  let value: unknown = inputs;
  for (const segment of path.split('.')) {
    if (Array.isArray(value) && /^\d{1,9}$/.test(segment)) value = value[Number(segment)];
    else if (isPlainObject(value) && Object.hasOwn(value, segment)) value = value[segment];
    else return undefined;
  }
  return value;
};

/** Parts of a template: plain texts, and the contents of `{{` and `}}`. */
type Part = { readonly text: string } | { readonly input: string };

/** The parts of a template in order. Unclosed braces are text. */
export const partsOf = (template: string): readonly Part[] => {
  const parts: Part[] = [];
  let at = 0;
  while (at < template.length) {
    const begin = template.indexOf('{{', at);
    const end = begin < 0 ? -1 : template.indexOf('}}', begin + 2);
    if (end < 0) break;
    if (begin > at) parts.push({ text: template.slice(at, begin) });
    parts.push({ input: template.slice(begin + 2, end).trim() });
    at = end + 2;
  }
  if (at < template.length) parts.push({ text: template.slice(at) });
  return parts;
};

/**
 * Replaces each `{{input}}` by the text that `write` makes of its value. `write` escapes the value for its position, and also gets the text
 * before it. Missing values are undefined.
 */
export const fillTemplate = (
  template: string,
  inputs: Inputs,
  write: (value: unknown, input: string, before: string) => string,
): string => {
  let filled = '';
  for (const part of partsOf(template))
    filled += 'text' in part ? part.text : write(inputAt(inputs, part.input), part.input, filled);
  return filled;
};

/** A value as plain text: texts, numbers and booleans as they are, secrets revealed, lists and objects as JSON with secrets revealed. */
export const textOf = (value: unknown): string => {
  const plain = revealed(value);
  return typeof plain === 'string' ? plain : JSON.stringify(plain ?? null);
};

/** As {@link textOf}; for a missing value it throws a failure that names the field and the input. */
export const neededText = (value: unknown, input: string, field: string): string => {
  if (!isMissing(value)) return textOf(value);
  throw new ConnectorFailure(
    `The field ${field} uses {{${input}}}, and the input "${input}" has no value; connect it, or give it a value.`,
    { outcome: 'invalid', details: { field, input } },
  );
};

/** A value with its secrets revealed, at any depth. */
export const revealed = (value: unknown): unknown => {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(revealed);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, revealed(member)]));
};
