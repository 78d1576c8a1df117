import { type ConditionCell, type RuleField } from '@decision/contracts';
import { RE2JS } from 're2js';
import { findOperator, operatorNames } from '../operators/operator-catalogue';
import { type ArgumentType, type OperatorArgument, type OperatorEntry } from '../operators/operator-entry';
import { type RuleProblem, type RuleProblemCode } from '../rule-problem';
import { valueTypeOf } from '../value-type';

/** Where a cell stands. */
export interface CellPlace {
  readonly row: number;
  readonly column: string;
  readonly path: string;
}

/** Problems of one condition: its operator, the number and types of its arguments, ranges, patterns. */
export const checkCell = (field: RuleField, { op, args = [] }: ConditionCell, place: CellPlace): RuleProblem[] => {
  const entry = findOperator(field.type, op);
  if (entry === undefined) {
    const valid = operatorNames(field.type).join('; ');
    return [
      problem(
        place,
        'unknown_operator',
        `has the operator "${op}", which fields of type ${field.type} do not have; valid are: ${valid}`,
      ),
    ];
  }
  if (args.length !== entry.args.length) {
    const wanted =
      entry.args.length === 0
        ? 'no argument'
        : `${entry.args.length} (${entry.args.map(({ name }) => name).join(', ')})`;
    return [problem(place, 'wrong_argument_count', `gives "${op}" ${args.length} arguments; it takes ${wanted}`)];
  }
  const faults = entry.args.flatMap((argument, index) => checkArgument(entry, argument, args[index], place));
  return faults.length > 0 ? faults : checkRange(entry, args, place);
};

const problem = ({ row, column, path }: CellPlace, code: RuleProblemCode, what: string): RuleProblem => ({
  code,
  message: `Row ${row}, column "${column}" ${what}.`,
  path,
  row,
  column,
});

const TYPE_NAMES: Readonly<Record<ArgumentType, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  list: 'a list',
  pattern: 'a text',
};

const checkArgument = (
  { op }: OperatorEntry,
  { name, type }: OperatorArgument,
  value: unknown,
  place: CellPlace,
): RuleProblem[] => {
  const wanted = type === 'pattern' ? 'string' : type;
  const came = valueTypeOf(value);
  if (came !== wanted) {
    return [
      problem(place, 'wrong_argument_type', `gives "${op}" a ${name} of type ${came}; it must be ${TYPE_NAMES[type]}`),
    ];
  }
  return type === 'pattern' ? checkPattern(String(value), place) : [];
};

const checkPattern = (pattern: string, place: CellPlace): RuleProblem[] => {
  try {
    RE2JS.compile(pattern);
    return [];
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'it cannot be read';
    return [
      problem(
        place,
        'invalid_pattern',
        `has a pattern that cannot be used: ${reason}; look-around and back-references are not supported, since patterns run in linear time`,
      ),
    ];
  }
};

const checkRange = ({ op, isRange }: OperatorEntry, args: readonly unknown[], place: CellPlace): RuleProblem[] => {
  const [start, end] = args;
  if (isRange !== true || typeof start !== 'number' || typeof end !== 'number' || start <= end) return [];
  return [problem(place, 'wrong_range', `gives "${op}" a range from ${start} to ${end}, which is the wrong way round`)];
};
