import { type RuleTable } from '@decision/contracts';

/**
 * Ids of function values by the names under which the formulas of a table call them. They stand in `settings.functions`, so that renaming a
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
