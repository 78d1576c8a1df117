import { type RuleTable, type ValueRecord } from '@decision/contracts';
import {
  bindValueReferences,
  checkRule,
  collectReferences,
  functionsCalledIn,
  type HiddenValues,
  MAX_PROBLEMS,
  problemsOfMovedReferences,
  type RuleProblem,
  type StoredValue,
  type ValueSource,
} from '@decision/engine';
import {
  type BoundValue,
  findBoundValues,
  findValues,
  resolveReferences,
  type Transaction,
} from '@decision/persistence';

/** A table with references by id, the referenced values, and all problems that prevent its execution. */
interface BoundTable {
  readonly table: RuleTable;
  readonly valueIds: readonly string[];
  readonly problems: readonly RuleProblem[];
}

/** Maximum depth of function calls that are followed. */
const MAX_CALL_DEPTH = 20;

/**
 * Binds the names in a table to the values that the caller may see, and checks the whole. References of the stored table stay bound, even if the
 * value was renamed or archived; if the caller may not see it, only in its present position (V5).
 */
export const bindValues = async (
  transaction: Transaction,
  given: RuleTable,
  stored: RuleTable | undefined,
): Promise<BoundTable> => {
  const table = keepFunctions(given, stored);
  const references = collectReferences(table);
  if (references.ids.size + references.names.size === 0) {
    return { table: given, valueIds: [], problems: checkRule(given) };
  }
  const visible = await findReferenced(transaction, references.ids, references.names);
  const hidden = await findHidden(transaction, stored, visible);
  const active = new Map(
    visible.filter(({ archivedAt }) => archivedAt === null).map((value) => [value.name, toStored(value)]),
  );
  const values = sourceOf([...visible, ...hidden]);
  const binding = bindValueReferences(table, { byName: (name) => active.get(name), byId: values.get });
  const faults = [...binding.problems, ...checkBound(binding.table, values)];
  const concealed = await findConcealed(transaction, { visible, hidden, values });
  // A table that cannot be executed may be nested too deep to be compared.
  const problems = faults.length > 0 ? faults : problemsOfMovedReferences(binding.table, stored, concealed);
  return {
    table: binding.table,
    valueIds: [...collectReferences(binding.table).ids],
    problems: problems.slice(0, MAX_PROBLEMS),
  };
};

/** Keeps the names that formulas are bound to if a client sends settings without them. */
const keepFunctions = (given: RuleTable, stored: RuleTable | undefined): RuleTable => {
  const kept = stored?.settings?.functions;
  if (kept === undefined) return given;
  return { ...given, settings: { ...given.settings, functions: { ...kept, ...given.settings?.functions } } };
};

/** The values of these ids and names, and the functions that functions among them call. */
const findReferenced = async (
  transaction: Transaction,
  ids: Iterable<string>,
  names: Iterable<string>,
): Promise<readonly ValueRecord[]> => {
  const found = new Map<string, ValueRecord>();
  const asked = new Set(names);
  let latest = await findValues(transaction, { ids, names: asked });
  for (let depth = 0; depth < MAX_CALL_DEPTH && latest.length > 0; depth += 1) {
    for (const value of latest) found.set(value.id, value);
    const called = latest.flatMap(calledBy).filter((name) => !asked.has(name));
    for (const name of called) asked.add(name);
    latest = await findValues(transaction, { names: called });
  }
  return resolveReferences(transaction, [...found.values()], 'rules');
};

const calledBy = ({ type, content }: ValueRecord): readonly string[] =>
  type === 'function' ? functionsCalledIn((content as { formula: string }).formula) : []; // the content of a function value

/** Values that the stored table refers to and the caller does not see. */
const findHidden = (
  transaction: Transaction,
  stored: RuleTable | undefined,
  visible: readonly ValueRecord[],
): Promise<readonly BoundValue[]> => {
  const seen = new Set(visible.map(({ id }) => id));
  const bound = stored === undefined ? [] : [...collectReferences(stored).ids];
  return findBoundValues(
    transaction,
    bound.filter((id) => !seen.has(id)),
  );
};

/** Values of which the caller does not see everything: the value itself or some of its members. */
const findConcealed = async (
  transaction: Transaction,
  {
    visible,
    hidden,
    values,
  }: {
    readonly visible: readonly ValueRecord[];
    readonly hidden: readonly BoundValue[];
    readonly values: ValueSource;
  },
): Promise<HiddenValues> => {
  const members = await findValues(transaction, { ids: visible.flatMap(({ refersTo }) => refersTo) });
  const seen = new Set(members.map(({ id }) => id));
  const lists = visible.filter(({ refersTo }) => refersTo.some((id) => !seen.has(id)));
  const partly = new Set(lists.map(({ id }) => id));
  const unseen = new Set([...hidden.map(({ id }) => id), ...partly]);
  return { size: unseen.size, has: (id) => unseen.has(id), hasPartly: (id) => partly.has(id), get: values.get };
};

const toStored = ({ id, name, type, content }: BoundValue): StoredValue => ({ id, name, type, value: content });

const sourceOf = (values: readonly BoundValue[]): ValueSource => {
  const byId = new Map(values.map((value) => [value.id, toStored(value)]));
  return { revision: 0, get: (id) => byId.get(id) };
};

/** A reference that found no value is reported once, by the binding. */
const checkBound = (table: RuleTable, values: ValueSource): readonly RuleProblem[] =>
  checkRule(table, { values }).filter(({ code }) => code !== 'unbound_value');
