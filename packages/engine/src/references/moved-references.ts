import { type RuleField, type RuleTable } from '@decision/contracts';
import { type TableLocation, pointerPart, ProblemList, type RuleProblem } from '../rule-problem';
import { functionIdsOf, functionsCalledIn } from './collect-references';
import { functionTextOf } from './read-formula';
import { asReference, type StoredValue } from './value-reference';

/** Values that the author of a table change cannot see, or cannot see completely. */
export interface HiddenValues {
  readonly size: number;
  readonly has: (id: string) => boolean;
  /** Visible lists with a hidden member. */
  readonly hasPartly: (id: string) => boolean;
  /** Values to which the table is bound, including hidden ones. */
  readonly get: (id: string) => StoredValue | undefined;
}

/**
 * References to hidden values that moved from their location in the stored table: the same column and the same cell, default or formula,
 * unchanged. Rows may change their order; a cell may not occur more often than before. Both tables are bound, and neither nests too deeply.
 * Reports at most 100.
 */
export const problemsOfMovedReferences = (
  table: RuleTable,
  stored: RuleTable | undefined,
  hidden: HiddenValues,
): readonly RuleProblem[] => {
  const left = new Map<string, number>();
  if (hidden.size === 0) return [];
  for (const { key } of stored === undefined ? [] : hiddenReferencesIn(stored, hidden))
    left.set(key, (left.get(key) ?? 0) + 1);
  const problems = new ProblemList();
  for (const { key, location, id, name, isCall } of hiddenReferencesIn(table, hidden)) {
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    if (count > 0) continue;
    const lack = hidden.hasPartly(id) ? 'of which a member does not exist' : 'which does not exist';
    if (isCall) problems.addFault('unknown_function', `calls the function "${name}", ${lack}`, location);
    else problems.addFault('unknown_value', `refers to the value "${name}", ${lack}`, location);
    if (problems.isFull) break;
  }
  return problems.problems;
};

/** A part of a table that refers to a hidden value. */
interface HiddenReference {
  /** Equal for parts with the same content in the same column. */
  readonly key: string;
  readonly location: TableLocation;
  readonly id: string;
  readonly name: string;
  readonly isCall: boolean;
}

function* hiddenReferencesIn(table: RuleTable, hidden: HiddenValues): Generator<HiddenReference> {
  const inFormula = formulaReader(table, hidden);
  for (const side of ['requestSchema', 'responseSchema'] as const) {
    for (const [index, field] of table[side].entries())
      yield* hiddenReferencesOfField(field, `/${side}/${index}`, hidden, inFormula);
  }
  const formulas = new Set(table.responseSchema.filter(({ type }) => type === 'function').map(({ key }) => key));
  for (const [row, { request = {}, response = {} }] of table.conditions.entries()) {
    const locationOf = (side: string, column: string): TableLocation => ({
      ...{ path: `/conditions/${row}/${side}/${pointerPart(column)}`, row, column },
    });
    for (const [column, { op, args }] of Object.entries(request))
      yield* inValue(args, ['request', column, op], locationOf('request', column), hidden);
    for (const [column, { value }] of Object.entries(response)) {
      const location = locationOf('response', column);
      yield* formulas.has(column)
        ? inFormula(value, ['formula', column], location)
        : inValue(value, ['response', column], location, hidden);
    }
  }
  for (const [group, { accumulators = {} }] of Object.entries(table.groups ?? {})) {
    for (const [column, text] of Object.entries(accumulators)) {
      const path = `/groups/${pointerPart(group)}/accumulators/${pointerPart(column)}`;
      yield* inFormula(text, ['group', group, column], { path, column });
    }
  }
}

type ReadFormula = (text: unknown, where: readonly string[], location: TableLocation) => Generator<HiddenReference>;

function* hiddenReferencesOfField(
  { key, defaultValue, defaultComputedValue }: RuleField,
  path: string,
  hidden: HiddenValues,
  inFormula: ReadFormula,
): Generator<HiddenReference> {
  const side = path.split('/')[1] ?? '';
  yield* inValue(defaultValue, ['default', side, key], { path: `${path}/defaultValue`, column: key }, hidden);
  const computed = { path: `${path}/defaultComputedValue`, column: key };
  yield* inFormula(defaultComputedValue, ['computed', side, key], computed);
}

function* inValue(
  value: unknown,
  where: readonly string[],
  location: TableLocation,
  hidden: HiddenValues,
): Generator<HiddenReference> {
  if (typeof value !== 'object' || value === null) return;
  let found: { readonly id: string; readonly name: string } | undefined;
  // The name in a reference is for readers only.
  const text = JSON.stringify(value, (_key, part: unknown) => {
    const reference = asReference(part);
    if (reference === undefined) return part;
    const { id, name = id } = reference;
    if (hidden.has(id)) found ??= { id, name };
    return { $rb: 'globalValue', id };
  });
  if (found !== undefined) yield { key: JSON.stringify([...where, text]), location, ...found, isCall: false };
}

/** Finds the formulas that call a hidden function, directly or through other functions. */
const formulaReader = (table: RuleTable, hidden: HiddenValues): ReadFormula => {
  const ids = functionIdsOf(table);
  const isAnyHidden = [...ids.values()].some(hidden.has);
  return function* (text, where, location) {
    if (!isAnyHidden || typeof text !== 'string' || text === '') return;
    const reached = new Map<string, string>();
    const open = [text];
    for (let formula = open.pop(); formula !== undefined; formula = open.pop()) {
      for (const name of functionsCalledIn(formula)) {
        const id = ids.get(name);
        if (id === undefined || reached.has(name)) continue;
        reached.set(name, id);
        const called = functionTextOf(hidden.get(id));
        if (typeof called === 'object') open.push(called.formula);
      }
    }
    const [found] = [...reached].filter(([, id]) => hidden.has(id));
    if (found === undefined) return;
    const [name, id] = found;
    yield { key: JSON.stringify([...where, text, [...reached].sort()]), location, id, name, isCall: true };
  };
};
