import { type RuleGroup, type RuleTable } from '@decision/contracts';
import { type CheckScope, type CompiledFormula } from '@decision/expressions';
import { type PatternAllowance } from '../operators/pattern';
import { readFormula } from '../references/read-formula';
import { offeredNames, pointerPart, type ProblemList, shownName } from '../rule-problem';
import { type PlannedGroup } from './planned-table';

/** Names in formulas of accumulators, in addition to inputs: the values of their column in the matching rows, and the number of these rows. */
export const ACCUMULATOR_VALUES = '$values';
export const ACCUMULATOR_ROWS = '$rows';

/** Named accumulators, with their formulas. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ['sum', 'sum($values)'],
  ['min', 'min($values)'],
  ['max', 'max($values)'],
  ['average', 'average($values)'],
  ['count', 'length($values)'],
  ['list', '$values'],
  ['first', '$values[0]'],
  ['last', '$values[length($values) - 1]'],
]);

export const accumulatorNames: readonly string[] = [...NAMED.keys()];

interface GroupContext {
  /** Position of each output. */
  readonly outputs: ReadonlyMap<string, { readonly position: number }>;
  /** Scope of formulas for an output. */
  readonly scopeOf: (position: number) => CheckScope;
  readonly patterns: PatternAllowance;
  readonly problems: ProblemList;
}

/** Reads the groups of a table and their accumulators. */
export const readGroups = (table: RuleTable, context: GroupContext): ReadonlyMap<string, PlannedGroup> => {
  const used = new Set(table.conditions.map(({ settings }) => settings?.groupId));
  const groups = new Map<string, PlannedGroup>();
  for (const [id, group] of Object.entries(table.groups ?? {})) {
    groups.set(id, { id, policy: group.hitPolicy, accumulators: readAccumulators(id, group, context) });
    const hasAccumulators = Object.keys(group.accumulators ?? {}).length > 0;
    const location = { path: `/groups/${pointerPart(id)}` };
    if (hasAccumulators && !used.has(id)) {
      const message = `The group "${shownName(id)}" has accumulators, but no row belongs to it; remove it, or name it in a row's settings.`;
      context.problems.add('group_without_rows', message, location);
    }
    if (hasAccumulators && group.hitPolicy !== 'compute') {
      const message = `The group "${shownName(id)}" has accumulators, but its hit policy is "${group.hitPolicy}"; only "compute" uses them.`;
      context.problems.add('misplaced_accumulators', message, { path: `${location.path}/accumulators` });
    }
  }
  return groups;
};

const readAccumulators = (
  id: string,
  { accumulators = {} }: RuleGroup,
  { outputs, scopeOf, patterns, problems }: GroupContext,
): ReadonlyMap<number, CompiledFormula> => {
  const compiled = new Map<number, CompiledFormula>();
  const references = new Set([ACCUMULATOR_VALUES, ACCUMULATOR_ROWS]);
  for (const [key, text] of Object.entries(accumulators)) {
    const location = { path: `/groups/${pointerPart(id)}/accumulators/${pointerPart(key)}`, column: key };
    const output = outputs.get(key);
    if (output === undefined) {
      if (problems.isFull) break;
      const names = offeredNames(outputs.keys(), outputs.size);
      const message = `The group "${shownName(id)}" accumulates the output "${shownName(key)}", which the rule does not have; it has: ${names}.`;
      problems.add('unknown_field', message, location);
      continue;
    }
    const reading = readFormula(NAMED.get(text) ?? text, { ...scopeOf(output.position), references }, patterns);
    if (reading.ok) compiled.set(output.position, reading.formula);
    else for (const problem of reading.problems) problems.addFormulaProblem(withNames(problem), location);
  }
  return compiled;
};

/** A misspelt name of an accumulator is read as a formula; the message offers both. */
const withNames = <P extends { readonly message: string }>(problem: P): P => ({
  ...problem,
  message: `${problem.message}; an accumulator is one of ${accumulatorNames.join(', ')}, or a formula over ${ACCUMULATOR_VALUES}`,
});
