import { type RuleField, type RuleRow } from '@decision/contracts';
import { type RuleProblem } from '../rule-problem';
import { checkCell } from './check-cell';

export interface RowSurroundings {
  readonly request: ReadonlyMap<string, RuleField>;
  readonly response: ReadonlyMap<string, RuleField>;
  /** Ids seen so far and the rows that have them; this function adds to it. */
  readonly rowIds: Map<string, number>;
}

/** Problems of one row, in the order in which a reader meets them. */
export const checkRow = (row: RuleRow, index: number, surroundings: RowSurroundings): RuleProblem[] => [
  ...checkId(row, index, surroundings.rowIds),
  ...Object.entries(row.request ?? {}).flatMap(([key, cell]) => {
    const field = surroundings.request.get(key);
    if (field)
      return checkCell(field, cell, { row: index, column: key, path: `/conditions/${index}/request/${pointer(key)}` });
    return [unknownField('input', key, index, surroundings.request)];
  }),
  ...Object.keys(row.response ?? {})
    .filter((key) => !surroundings.response.has(key))
    .map((key) => unknownField('output', key, index, surroundings.response)),
];

const checkId = ({ id }: RuleRow, index: number, rowIds: Map<string, number>): RuleProblem[] => {
  if (id === undefined) return [];
  const first = rowIds.get(id);
  if (first === undefined) {
    rowIds.set(id, index);
    return [];
  }
  const message = `Row ${index} has the id "${id}" of row ${first}; ids of rows are their own.`;
  return [{ code: 'duplicate_row_id', message, path: `/conditions/${index}/id`, row: index }];
};

const unknownField = (
  kind: 'input' | 'output',
  key: string,
  row: number,
  known: ReadonlyMap<string, RuleField>,
): RuleProblem => ({
  code: 'unknown_field',
  message: `Row ${row} names the ${kind} "${key}", which the rule does not have; it has: ${[...known.keys()].join(', ') || 'none'}.`,
  path: `/conditions/${row}/${kind === 'input' ? 'request' : 'response'}/${pointer(key)}`,
  row,
  column: key,
});

/** A key as a part of a JSON pointer. */
const pointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
