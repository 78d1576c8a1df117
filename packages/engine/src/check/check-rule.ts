import { type RuleTable } from '@decision/contracts';
import { MAX_PROBLEMS, type RuleProblem } from '../rule-problem';
import { checkFields } from './check-fields';
import { checkRow } from './check-row';
import { checkSupport } from './check-support';

/** Every problem of a table, at most 100, each with its place. An empty answer means that it compiles. */
export const checkRule = (table: RuleTable): readonly RuleProblem[] => {
  const problems: RuleProblem[] = [
    ...checkFields('requestSchema', table.requestSchema),
    ...checkFields('responseSchema', table.responseSchema),
  ];
  problems.push(...checkSupport(table));
  const request = new Map(table.requestSchema.map((field) => [field.key, field]));
  const response = new Map(table.responseSchema.map((field) => [field.key, field]));
  const rowIds = new Map<string, number>();
  for (const [index, row] of table.conditions.entries()) {
    if (problems.length >= MAX_PROBLEMS) break;
    problems.push(...checkRow(row, index, { request, response, rowIds }));
  }
  return problems.slice(0, MAX_PROBLEMS);
};
