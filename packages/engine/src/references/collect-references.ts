import { type RuleTable } from '@decision/contracts';
import { formulaReferences, parseFormula } from '@decision/expressions';
import { isTooDeep } from '../values/json-depth';
import { functionIdsOf } from './function-bindings';
import { formulasOf } from './table-formulas';
import { asReference, mapReferences, referencedName } from './value-reference';

/** The values that a table needs: by id where they are bound, else by name. */
interface TableReferences {
  readonly ids: ReadonlySet<string>;
  /** Names of values that are referred to by name, and of functions that formulas call and that are not bound yet. */
  readonly names: ReadonlySet<string>;
}

/** Finds every reference of a table to a value. What nests too deep is left out: `checkRule` refuses it. */
export const collectReferences = (table: RuleTable): TableReferences => {
  const bound = functionIdsOf(table);
  const ids = new Set<string>(bound.values());
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || isTooDeep(value)) return;
    mapReferences(value, (reference) => {
      const stored = asReference(reference);
      if (stored !== undefined) ids.add(stored.id);
      else names.add(referencedName(reference) ?? '');
      return reference;
    });
  };
  for (const { defaultValue } of [...table.requestSchema, ...table.responseSchema]) visit(defaultValue);
  for (const { request = {}, response = {} } of table.conditions) {
    for (const { args } of Object.values(request)) visit(args);
    for (const { value } of Object.values(response)) visit(value);
  }
  for (const text of formulasOf(table))
    for (const name of functionsCalledIn(text)) if (!bound.has(name)) names.add(name);
  return { ids, names };
};

/** The function values that a formula calls; none where it cannot be read. */
export const functionsCalledIn = (formula: string): readonly string[] => {
  const parsing = parseFormula(formula);
  return parsing.ok ? formulaReferences(parsing.formula).functions : [];
};
