import { type RuleTable } from '@decision/contracts';
import { formulaReferences, parseFormula } from '@decision/expressions';
import { isTooDeep } from '../values/json-value';
import { asReference, mapReferences, referencedName } from './value-reference';

/** The values that a table needs: by id if they are bound, otherwise by name. */
interface TableReferences {
  readonly ids: ReadonlySet<string>;
  /** Names of values that are referenced by name, and of functions that formulas call and that are not bound yet. */
  readonly names: ReadonlySet<string>;
}

/** Finds every reference of a table to a value. Skips parts that nest too deeply: `checkRule` rejects them. */
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

/** The function values that a formula calls; none if it cannot be parsed. */
export const functionsCalledIn = (formula: string): readonly string[] => {
  const parsing = parseFormula(formula);
  return parsing.ok ? formulaReferences(parsing.formula).functions : [];
};

/** Every formula of a table, each once. */
export const formulasOf = ({
  requestSchema,
  responseSchema,
  conditions,
  groups = {},
}: RuleTable): ReadonlySet<string> => {
  const texts = new Set<string>();
  const add = (text: unknown): void => {
    if (typeof text === 'string' && text !== '') texts.add(text);
  };
  for (const { defaultComputedValue } of [...requestSchema, ...responseSchema]) add(defaultComputedValue);
  for (const { accumulators = {} } of Object.values(groups)) Object.values(accumulators).forEach(add);
  const columns = responseSchema.filter(({ type }) => type === 'function').map(({ key }) => key);
  for (const { response = {} } of columns.length > 0 ? conditions : [])
    for (const key of columns) if (Object.hasOwn(response, key)) add(response[key]?.value);
  return texts;
};

/**
 * Ids of function values by the names under which the formulas of a table call them. They are stored in `settings.functions`, so that renaming a
 * value breaks no formula.
 */
export const functionIdsOf = ({ settings }: RuleTable): ReadonlyMap<string, string> => {
  return new Map(Object.entries(settings?.functions ?? {}));
};

/** The table with these ids and no others. */
export const withFunctionIds = (table: RuleTable, ids: ReadonlyMap<string, string>): RuleTable => {
  if (ids.size > 0) return { ...table, settings: { ...table.settings, functions: Object.fromEntries(ids) } };
  if (table.settings?.functions === undefined) return table;
  const { functions: _unused, ...settings } = table.settings;
  return { ...table, settings };
};
