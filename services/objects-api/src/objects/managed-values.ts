import { VALUE_NAME_MAX_LENGTH } from '@decision/contracts';
import { type ManagedKey, type ManagedValue } from '@decision/persistence';
import { UNNAMEABLE } from '../values/read-values';
import { type ContentField, type ContentProblem, type EnumMember } from './schema/parsed-content';

/** A value that an object should have. */
export type WantedValue = Omit<ManagedValue, 'id' | 'archived'>;

/** Maximum number of values that an object generates. */
const MAX_MANAGED_VALUES = 100_000;
const MAX_PROBLEMS = 100;

/** The `member` of a field's collection. */
const COLLECTION = '';

/** Text that identifies a value within its object. */
export const keyText = ({ path, member }: ManagedKey): string => `${path}\n${member}`;

/**
 * The values of enum fields: for each field its collection, a list named like the field, or as its `x-values-name` says, and for each member one
 * named `<that name>.<member>`. Names are NFC. Fields without a possible name for their values are problems, at most 100.
 */
export const managedValuesOf = (
  fields: readonly ContentField[],
): { readonly wanted: readonly WantedValue[]; readonly problems: readonly ContentProblem[] } => {
  const problems: ContentProblem[] = [];
  const byName = new Map<string, WantedValue>();
  for (const field of fields) {
    for (const value of valuesOf(field)) {
      const fault = faultOfName(value.name) ?? faultOfPlace(byName, value);
      if (fault === undefined) byName.set(value.name, value);
      else if (problems.length < MAX_PROBLEMS) problems.push({ path: field.schemaPath, message: fault });
    }
  }
  if (byName.size > MAX_MANAGED_VALUES) {
    const message = `The enums have more than ${MAX_MANAGED_VALUES} members together; keep such sets as values, with /values/sync.`;
    return { wanted: [], problems: [{ path: '', message }] };
  }
  return { wanted: [...byName.values()], problems };
};

const valuesOf = ({ key, members = [], description, valuesName = key }: ContentField): readonly WantedValue[] => {
  if (members.length === 0) return [];
  const [path, name] = [key.normalize('NFC'), valuesName.normalize('NFC')];
  return [
    {
      path,
      member: COLLECTION,
      name,
      type: 'list',
      content: members.map(({ value }) => value),
      metadata: description === null ? {} : { description },
    },
    ...members.map((member) => memberValue({ path, name }, member)),
  ];
};

const memberValue = (
  { path, name }: Pick<WantedValue, 'path' | 'name'>,
  { value, title, description }: EnumMember,
): WantedValue => ({
  path,
  member: JSON.stringify(value),
  name: `${name}.${String(value)}`.normalize('NFC'),
  type: typeof value as 'string' | 'number' | 'boolean', // members have one of these types
  content: value,
  metadata: { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) },
});

const faultOfPlace = (byName: ReadonlyMap<string, WantedValue>, { name }: WantedValue): string | undefined =>
  byName.has(name) ? `Two values would be named "${shown(name)}"; rename a field or a member.` : undefined;

const faultOfName = (name: string): string | undefined => {
  if (name.length > VALUE_NAME_MAX_LENGTH) {
    return `The name "${shown(name)}" is longer than ${VALUE_NAME_MAX_LENGTH} characters.`;
  }
  return UNNAMEABLE.test(name)
    ? `The name ${JSON.stringify(shown(name))} has a character that names cannot have.`
    : undefined;
};

const shown = (name: string): string => (name.length > 100 ? `${name.slice(0, 100)}...` : name);
