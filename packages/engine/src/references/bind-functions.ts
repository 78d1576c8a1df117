import { type RuleTable } from '@decision/contracts';
import { functionsCalledIn } from './collect-references';
import { functionIdsOf, withFunctionIds } from './function-bindings';
import { functionTextOf } from './function-values';
import { formulasOf } from './table-formulas';
import { type ValueLookUp } from './value-source';

/**
 * Notes the ids of the function values that the formulas of a table call, and of those that these call in turn. Names that are bound already
 * stay so; others are looked up.
 */
export const bindFunctions = (table: RuleTable, { byName, byId }: ValueLookUp): RuleTable => {
  const bound = functionIdsOf(table);
  const ids = new Map<string, string>();
  const pending = [...formulasOf(table)];
  for (let formula = pending.pop(); formula !== undefined; formula = pending.pop()) {
    for (const name of functionsCalledIn(formula)) {
      if (ids.has(name)) continue;
      const boundId = bound.get(name);
      const id = boundId ?? byName(name)?.id;
      if (id === undefined) continue;
      ids.set(name, id);
      const text = functionTextOf(boundId === undefined ? byName(name) : byId(boundId));
      if (typeof text === 'object') pending.push(text.formula);
    }
  }
  return withFunctionIds(table, ids);
};
