import { type RuleField, type RuleRow, type RuleTable } from '@decision/contracts';
import { type TableLocation, pointerPart, ProblemList, type RuleProblem } from '../rule-problem';
import { isTooDeep } from '../values/json-value';
import { formulasOf, functionIdsOf, functionsCalledIn, withFunctionIds } from './collect-references';
import { functionTextOf } from './read-formula';
import { holdsReference, mapReferences, referencedName, type ValueLookUp } from './value-reference';

/** A table whose references are by id, and the references that have no value. */
interface Binding {
  readonly table: RuleTable;
  readonly problems: readonly RuleProblem[];
}

/**
 * Turns references as written (`{"$ref": name}`) into references as stored (`{"$rb": "globalValue", id, name}`), in arguments, outputs and
 * defaults, and records the ids of the function values that formulas call in `settings.functions`. A name that is already bound stays bound to
 * the same value, so that renaming a value changes no rule. The given table is not changed. References to unknown values stay unchanged and are
 * reported, at most 100; unknown function values are left to `checkRule`, which knows their location.
 */
export const bindValueReferences = (table: RuleTable, lookUp: ValueLookUp): Binding => {
  const binder = new Binder(lookUp);
  const bound: RuleTable = {
    ...table,
    requestSchema: binder.bindFields(table.requestSchema, 'requestSchema'),
    responseSchema: binder.bindFields(table.responseSchema, 'responseSchema'),
    conditions: table.conditions.map((row, index) => binder.bindRow(row, index)),
  };
  return { table: bindFunctions(bound, lookUp), problems: binder.problems.problems };
};

class Binder {
  readonly problems = new ProblemList();

  constructor(private readonly lookUp: ValueLookUp) {}

  bindFields(fields: readonly RuleField[], side: string): RuleField[] {
    return fields.map((field, index) => {
      if (!mayBind(field.defaultValue)) return field;
      const location = { path: `/${side}/${index}/defaultValue`, column: field.key };
      return { ...field, defaultValue: this.bind(field.defaultValue, location) };
    });
  }

  /** A row without references is returned unchanged. */
  bindRow(row: RuleRow, index: number): RuleRow {
    const { request = {}, response = {} } = row;
    const hasReference =
      Object.values(request).some(({ args }) => mayBind(args)) ||
      Object.values(response).some(({ value }) => mayBind(value));
    if (!hasReference) return row;
    const locationOf = (side: 'request' | 'response', key: string): TableLocation => ({
      path: `/conditions/${index}/${side}/${pointerPart(key)}`,
      row: index,
      column: key,
    });
    return {
      ...row,
      request: mapMembers(request, (cell, key) =>
        mayBind(cell.args) ? { ...cell, args: this.bindList(cell.args ?? [], locationOf('request', key)) } : cell,
      ),
      response: mapMembers(response, (cell, key) =>
        mayBind(cell.value) ? { ...cell, value: this.bind(cell.value, locationOf('response', key)) } : cell,
      ),
    };
  }

  private bindList(values: readonly unknown[], location: TableLocation): unknown[] {
    return values.map((value) => this.bind(value, location));
  }

  private bind(value: unknown, location: TableLocation): unknown {
    return mapReferences(value, (reference) => {
      const name = referencedName(reference);
      if (name === undefined) return reference;
      const stored = this.lookUp.byName(name);
      if (stored !== undefined) return { $rb: 'globalValue', id: stored.id, name: stored.name };
      this.problems.addFault('unknown_value', `refers to the value "${name}", which does not exist`, location);
      return reference;
    });
  }
}

/** Values that nest too deeply are left to `checkRule`, which rejects them. */
const mayBind = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !isTooDeep(value) && holdsReference(value);

const mapMembers = <T>(members: Readonly<Record<string, T>>, map: (member: T, key: string) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(members).map(([key, member]) => [key, map(member, key)]));

/**
 * Records the ids of the function values that the formulas of a table call, directly or through other functions. Names that are already bound
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
