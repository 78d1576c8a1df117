import { measureValue } from '@decision/expressions';
import { type RuleParts } from '../compile/compiled-rule';
import { MAX_PATTERN_STEPS, MAX_READING_TIME, MAX_RULE_PATTERN_STEPS, type ReadingCosts } from '../compile/rule-search';
import { type Input, isOfType, readOwn } from '../match/frame';
import { type RuleFailure } from '../rule-outcome';
import { valueTypeOf } from '../values/json-value';

/** With strict input a value of another type is rejected instead of not matching. Null and missing values are valid for every type. */
export const strictFailure = (rule: RuleParts, input: Input): RuleFailure | undefined => {
  for (const { reader, type } of rule.inputs) {
    const value = readOwn(input, reader);
    if (value === undefined || value === null || isOfType(value, type)) continue;
    const came = valueTypeOf(value);
    const unreadable = type === 'date' && (came === 'string' || came === 'number');
    const what = unreadable ? `a ${came} that is not a date` : `a value of type ${came}`;
    return {
      code: 'evaluation_failed',
      message: `The field "${reader.key}" is of type ${type}, but received ${what}.`,
      column: reader.key,
      details: { reason: 'wrong_type', field: reader.key, expected: type, came },
    };
  }
  return undefined;
};

/**
 * A text on which the regular expressions of its field could take too long is rejected before any row is tried, so that the answer does not
 * depend on how rows are found.
 */
export const patternFailure = (rule: RuleParts, input: Input): RuleFailure | undefined => {
  // Without regular expressions, as in most rules, not even an iterator is made.
  if (rule.search.patternCosts.size === 0) return undefined;
  let steps = 0;
  for (const [position, { most, total }] of rule.search.patternCosts) {
    const reader = rule.inputs[position]?.reader;
    const value = reader === undefined ? undefined : readOwn(input, reader);
    if (reader === undefined || typeof value !== 'string') continue;
    steps += value.length * total;
    const limit = Math.floor(Math.min(MAX_PATTERN_STEPS / most, MAX_RULE_PATTERN_STEPS / total));
    if (value.length > limit || steps > MAX_RULE_PATTERN_STEPS) return textTooLong(reader.key, value.length, limit);
  }
  return undefined;
};

const textTooLong = (field: string, length: number, limit: number): RuleFailure => ({
  code: 'evaluation_failed',
  message:
    length > limit
      ? `The field "${field}" has ${length} characters; the regular expressions of the rule allow ${limit}.`
      : `The field "${field}" has ${length} characters, which with those before it are too many for the regular expressions of the rule.`,
  column: field,
  details: { reason: 'text_too_long', field, length, limit },
});

/** Cost of the conditions on one field for an input. */
interface FieldWork {
  readonly field: string;
  /** Characters, elements and members of its value. */
  readonly size: number;
  readonly readers: number;
  /** Nanoseconds. */
  readonly work: number;
  /** The size at which this field alone reaches the bound. */
  readonly limit: number;
}

/** Maximum number of fields in an error: the most expensive ones. */
const LISTED_FIELDS = 5;

/**
 * Inputs that the conditions would read for too long, as the sum over all fields, are rejected before any row is tried, so that the answer does
 * not depend on how rows are found.
 */
export const readingFailure = (rule: RuleParts, input: Input): RuleFailure | undefined => {
  if (rule.search.readingCosts.size === 0) return undefined;
  const works = readingWork(rule, rule.search.readingCosts, MAX_READING_TIME, input);
  const work = totalWork(works);
  if (work <= MAX_READING_TIME) return undefined;
  return tooMuchToRead(
    [...works].sort((a, b) => b.work - a.work),
    work,
  );
};

/** Nanoseconds that conditions take at worst to read an input; counting stops above the bound. */
export const readingTime = (rule: RuleParts, bound: number, input: Input): number => {
  const { allCosts } = rule.search;
  return allCosts.size === 0 ? 0 : totalWork(readingWork(rule, allCosts, bound, input));
};

const totalWork = (works: readonly FieldWork[]): number => works.reduce((sum, { work }) => sum + work, 0);

const readingWork = (rule: RuleParts, costs: ReadingCosts, bound: number, input: Input): readonly FieldWork[] => {
  const works: FieldWork[] = [];
  for (const [position, { perUnit, readers }] of costs) {
    const field = rule.inputs[position];
    const value = field === undefined ? undefined : readOwn(input, field.reader);
    if (field === undefined || perUnit === 0 || !isOfType(value, field.type)) continue;
    const limit = Math.floor(bound / perUnit);
    const size = sizeOf(value, limit);
    works.push({ field: field.reader.key, size, readers, work: size * perUnit, limit });
  }
  return works;
};

/** Stops as soon as the bound is passed, and then returns more than the bound. */
const sizeOf = (value: unknown, bound: number): number =>
  typeof value === 'string' ? value.length : typeof value === 'object' ? measureValue(value, bound) : 1;

const milliseconds = (nanoseconds: number): number => Math.ceil(nanoseconds / 1_000_000);

const tooMuchToRead = (works: readonly FieldWork[], work: number): RuleFailure => {
  const [most] = works;
  const listed = works.slice(0, LISTED_FIELDS);
  const parts = listed.map(
    ({ field, size, readers, work: own }) =>
      `"${field}" of ${size} characters and elements, read by ${readers} conditions (${milliseconds(own)} ms)`,
  );
  const others = works.length - listed.length;
  const names = `${parts.join('; ')}${others > 0 ? `; and ${others} more ${others === 1 ? 'field' : 'fields'}` : ''}`;
  return {
    code: 'evaluation_failed',
    message: `The input is too large for the conditions that read it one by one: they would take up to ${milliseconds(work)} ms, and ${milliseconds(MAX_READING_TIME)} ms are allowed. Send shorter values, or ask about them in fewer rows. Fields: ${names}.`,
    column: most?.field,
    details: {
      reason: 'value_too_large',
      field: most?.field,
      limit: most?.limit,
      work_ms: milliseconds(work),
      limit_ms: milliseconds(MAX_READING_TIME),
      fields: listed.map(({ field, size, readers, work: own }) => ({
        field,
        size,
        conditions: readers,
        work_ms: milliseconds(own),
      })),
    },
  };
};
