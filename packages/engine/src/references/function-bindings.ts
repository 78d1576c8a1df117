import { type RuleTable } from '@decision/contracts';
import { isObject } from '../values/value-type';

/**
 * Ids of function values by the names under which the formulas of a table call them. They stand in `settings.functions`, so that renaming a
 * value breaks no formula.
 */
export const functionIdsOf = ({ settings }: RuleTable): ReadonlyMap<string, string> => {
  const bound: unknown = settings === undefined ? undefined : Reflect.get(settings, 'functions');
  if (!isObject(bound)) return new Map();
  return new Map(Object.entries(bound).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
};

/** The table with these ids; without any where there are none. */
export const withFunctionIds = (table: RuleTable, ids: ReadonlyMap<string, string>): RuleTable =>
  ids.size === 0 ? table : { ...table, settings: { ...table.settings, ...{ functions: Object.fromEntries(ids) } } };
