import { type RuleField } from '@decision/contracts';
import { type RuleProblem } from '../rule-problem';

/** Problems of one side of a table: keys that stand twice, and keys of which one would be written inside the other. */
export const checkFields = (
  side: 'requestSchema' | 'responseSchema',
  fields: readonly RuleField[],
): readonly RuleProblem[] => {
  const seen = new Set<string>();
  const problems: RuleProblem[] = [];
  for (const [index, { key, type }] of fields.entries()) {
    const place = { path: `/${side}/${index}/key`, column: key };
    if (seen.has(key))
      problems.push({
        ...place,
        code: 'duplicate_field',
        message: `The field "${key}" stands twice in ${side}; remove one of them.`,
      });
    seen.add(key);
    if (side === 'requestSchema' && type === 'function') {
      problems.push({
        ...place,
        code: 'unsupported',
        message: `The input field "${key}" is of type function, which only outputs can be.`,
      });
    }
    if (key.split('.').includes('')) {
      problems.push({
        ...place,
        code: 'unknown_field',
        message: `The key "${key}" has an empty part; a dot must stand between two names.`,
      });
    }
  }
  return side === 'responseSchema' ? [...problems, ...checkCollisions(fields, seen)] : problems;
};

/** `a` and `a.b` cannot both be outputs: one is a value where the other needs an object. */
const checkCollisions = (fields: readonly RuleField[], keys: ReadonlySet<string>): RuleProblem[] =>
  fields.flatMap(({ key }, index) => {
    const parts = key.split('.');
    const inside = parts
      .slice(0, -1)
      .map((_part, end) => parts.slice(0, end + 1).join('.'))
      .find((outer) => keys.has(outer));
    if (inside === undefined) return [];
    const message = `The outputs "${inside}" and "${key}" collide: one is a value where the other needs an object. Rename one of them.`;
    return [{ code: 'colliding_fields' as const, message, path: `/responseSchema/${index}/key`, column: key }];
  });
