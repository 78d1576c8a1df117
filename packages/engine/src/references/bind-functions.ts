import { type RuleTable } from '@decision/contracts';
import { formulaReferences, parseFormula } from '@decision/expressions';
import { functionIdsOf, withFunctionIds } from './function-bindings';
import { type StoredValue } from './value-source';

/** Notes the ids of the function values that the formulas of a table call. Names that are bound already stay so; others are looked up. */
export const bindFunctions = (table: RuleTable, lookUpByName: (name: string) => StoredValue | undefined): RuleTable => {
  const bound = functionIdsOf(table);
  const ids = new Map<string, string>();
  for (const name of functionNamesIn(table)) {
    const id = bound.get(name) ?? lookUpByName(name)?.id;
    if (id !== undefined) ids.set(name, id);
  }
  return withFunctionIds(table, ids);
};

const functionNamesIn = (table: RuleTable): ReadonlySet<string> => {
  const names = new Set<string>();
  for (const text of formulasOf(table)) {
    const parsing = parseFormula(text);
    if (parsing.ok) for (const name of formulaReferences(parsing.formula).functions) names.add(name);
  }
  return names;
};

/** Every formula of a table, each once. */
const formulasOf = ({ requestSchema, responseSchema, conditions, groups = {} }: RuleTable): ReadonlySet<string> => {
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
