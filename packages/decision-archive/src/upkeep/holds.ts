import { ArchiveError } from '../archive-error';
import { type ObjectStore } from '../store/object-store';

/** A legal hold: dates whose decisions are kept regardless of age, and not erased. */
interface Hold {
  /** Its name: letters, digits, dots, hyphens and underscores. */
  readonly name: string;
  /** YYYY-MM-DD, UTC; both included. */
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

const keyOf = (name: string): string => {
  if (!NAME.test(name))
    throw new ArchiveError(
      'misused',
      `"${name.slice(0, 100)}" is not a name of a hold: use up to 100 letters, digits, dots, hyphens and underscores.`,
    );
  return `holds/${name}.json`;
};

const isDate = (text: unknown): text is string =>
  typeof text === 'string' && DATE.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`));

/** Sets a hold. Throws `misused` if its name is taken, or a date is invalid. */
export const setHold = async (store: ObjectStore, hold: Hold): Promise<void> => {
  if (!isDate(hold.from) || !isDate(hold.to) || hold.from > hold.to)
    throw new ArchiveError(
      'misused',
      `A hold is from one date to another (YYYY-MM-DD), not from "${hold.from}" to "${hold.to}".`,
    );
  if (!(await store.create(keyOf(hold.name), JSON.stringify({ v: 1, ...hold }))))
    throw new ArchiveError('misused', `There is a hold "${hold.name}" already. Lift it first, or choose another name.`);
};

/** Lifts a hold. Throws `misused` if there is none with that name. */
export const liftHold = async (store: ObjectStore, name: string): Promise<void> => {
  const key = keyOf(name);
  if ((await store.read(key)) === undefined) throw new ArchiveError('misused', `There is no hold "${name}".`);
  await store.remove(key);
};

/** All holds, by name. Throws `damaged_object` if one cannot be read: nothing is removed then. */
export const listHolds = async (store: ObjectStore): Promise<readonly Hold[]> => {
  const holds: Hold[] = [];
  for await (const { key } of store.list('holds/')) {
    const text = await store.read(key);
    if (text !== undefined) holds.push(readHold(key, text));
  }
  return holds;
};

const readHold = (key: string, text: string): Hold => {
  const damaged = new ArchiveError(
    'damaged_object',
    `The object "${key}" is not a hold. Restore its content, or remove it.`,
  );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged;
  }
  const { name, from, to, reason } = Object(value) as Partial<Record<keyof Hold, unknown>>; // any value has members, perhaps undefined
  if (typeof name !== 'string' || typeof reason !== 'string' || !isDate(from) || !isDate(to)) throw damaged;
  return { name, from, to, reason };
};

/** The hold that keeps a date, if any. */
export const holdOf = (holds: readonly Hold[], date: string): Hold | undefined =>
  holds.find(({ from, to }) => from <= date && date <= to);
