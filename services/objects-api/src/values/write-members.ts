import { type SyncValuesAnswer, type ValueRecord } from '@decision/contracts';
import {
  type ComparedValue,
  compareValues,
  findTakenNames,
  findValueUses,
  type SavedValue,
  saveValues,
  type SaveValuesOptions,
  type Transaction,
} from '@decision/persistence';
import { bindReferences, holdsReferences } from './bind-references';
import { type ReadMembers } from './read-values';
import { shapeOf } from './same-shape';
import { nameTaken } from './value-answers';

/** Outcome of the members that were sent. */
interface Written extends Pick<SyncValuesAnswer, 'unchanged' | 'errors'> {
  readonly created: readonly ValueRecord[];
  readonly updated: readonly ValueRecord[];
}

/** Writes the valid members that differ from their stored state; the others are reported. The caller records it. */
export const writeMembers = async (
  transaction: Transaction,
  { values, problems }: ReadMembers,
  groups: SaveValuesOptions,
): Promise<Written> => {
  const plain = await writeSome(transaction, values.filter((value) => !holdsReferences(value)), groups); // prettier-ignore
  const { bound, problems: unbound } = await bindReferences(transaction, values.filter(holdsReferences));
  const lists = await writeSome(transaction, bound, groups);
  const told = [...problems, ...unbound].map(({ name, message }) => ({ name, error: message }));
  return {
    created: [...plain.created, ...lists.created],
    updated: [...plain.updated, ...lists.updated],
    unchanged: plain.unchanged + lists.unchanged,
    errors: [...told, ...plain.errors, ...lists.errors],
  };
};

const writeSome = async (
  transaction: Transaction,
  values: readonly SavedValue[],
  groups: SaveValuesOptions,
): Promise<Written> => {
  if (values.length === 0) return { created: [], updated: [], unchanged: 0, errors: [] };
  const stored = new Map(
    (await compareValues(transaction, values, groups.userGroups)).map((value) => [value.name, value]),
  );
  const faultOf = await findFaults(transaction, values, stored);
  const faulty = values.flatMap((value) => {
    const error = faultOf(value);
    return error === undefined ? [] : [{ name: value.name, error }];
  });
  const refused = new Set(faulty.map(({ name }) => name));
  const different = values.filter(({ name }) => stored.get(name)?.differs ?? true);
  const writable = different.filter(({ name }) => !refused.has(name));
  const saved = await saveValues(transaction, writable, { ...groups, recorded: 'by_caller' });
  if (saved.status !== 'saved') throw nameTaken('one of the names', {});
  const unchanged = values.length - saved.values.length - faulty.length;
  const isNew = ({ name }: ValueRecord): boolean => !stored.has(name);
  return {
    created: saved.values.filter(isNew),
    updated: saved.values.filter((value) => !isNew(value)),
    unchanged,
    errors: faulty,
  };
};

/** The reason why a value cannot be written, undefined if it can. */
const findFaults = async (
  transaction: Transaction,
  values: readonly SavedValue[],
  stored: ReadonlyMap<string, ComparedValue>,
): Promise<(value: SavedValue) => string | undefined> => {
  const missing = values.filter(({ name }) => !stored.has(name)).map(({ name }) => name);
  const taken = new Set((await findTakenNames(transaction, missing)).map(({ name }) => name));
  const reshaped = values.flatMap(({ name, type, content }) => {
    const before = stored.get(name);
    if (before?.differs !== true) return [];
    return shapeOf({ type, value: content }) === shapeOf({ type: before.type, value: before.content })
      ? []
      : [before.id];
  });
  const used = new Set((await findValueUses(transaction, reshaped)).map(({ valueId }) => valueId));
  return ({ name }) => {
    const before = stored.get(name);
    if (before === undefined) return taken.has(name) ? 'A value that this key does not see has the name.' : undefined;
    if (before.objectName !== null) return `The object "${before.objectName}" generates the value; change the object.`;
    return used.has(before.id) ? `Rules use the value, so it stays a ${before.type}.` : undefined;
  };
};
