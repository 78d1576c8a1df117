import { type RuleField } from '@decision/contracts';
import { type ProblemList } from '../problem-list';

/** Longer keys would nest objects deeper than outputs may be. */
const MAX_KEY_PARTS = 32;

/** Checks the keys of one side of a table: each once, made of parts, and no output within another. */
export const checkFieldKeys = (
  side: 'requestSchema' | 'responseSchema',
  fields: readonly RuleField[],
  problems: ProblemList,
): void => {
  const seen = new Set<string>();
  for (const [index, { key, type }] of fields.entries()) {
    const place = { path: `/${side}/${index}/key`, column: key };
    if (seen.has(key))
      problems.add('duplicate_field', `The field "${key}" stands twice in ${side}; remove one.`, place);
    seen.add(key);
    if (side === 'requestSchema' && type === 'function')
      problems.addFault('misplaced_function_field', 'is an input of type function, which only outputs can be', place);
    const parts = key.split('.');
    if (parts.includes(''))
      problems.addFault('unknown_field', 'has a key with an empty part; a dot must stand between two names', place);
    if (parts.length > MAX_KEY_PARTS)
      problems.addFault('too_deep', `has a key of more than ${MAX_KEY_PARTS} parts`, place);
  }
  if (side === 'responseSchema') checkCollisions(fields, seen, problems);
};

/** `a` and `a.b` cannot both be outputs: one is a value where the other needs an object. */
const checkCollisions = (fields: readonly RuleField[], keys: ReadonlySet<string>, problems: ProblemList): void => {
  for (const [index, { key }] of fields.entries()) {
    const outer = beginningsOf(key).find((beginning) => keys.has(beginning));
    if (outer === undefined) continue;
    const message = `The outputs "${outer}" and "${key}" collide: one is a value where the other needs an object. Rename one.`;
    problems.add('colliding_fields', message, { path: `/responseSchema/${index}/key`, column: key });
  }
};

/** `a` and `a.b` of `a.b.c`. */
const beginningsOf = (key: string): readonly string[] => {
  const parts = key.split('.').slice(0, MAX_KEY_PARTS);
  return parts.slice(0, -1).map((_part, end) => parts.slice(0, end + 1).join('.'));
};
