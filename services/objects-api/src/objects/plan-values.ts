import { isDeepStrictEqual } from 'node:util';
import { type ManagedChange, type ManagedValue, type ValuePlan } from '@decision/persistence';
import { keyText, type WantedValue } from './managed-values';

/** A renamed field, with all fields within it. */
export interface FieldRename {
  readonly from: string;
  readonly to: string;
}

/**
 * Plan of the changes after which an object has exactly the wanted values: pure, so that a dry run reports what a save does.
 *
 * A wanted value is matched by field and member. Values of a renamed field count under its new name and take precedence over values that already
 * had it. Existing values that are not wanted are archived; one that occupies a needed name gives it up and is released.
 */
export const planValues = (
  existing: readonly ManagedValue[],
  wanted: readonly WantedValue[],
  rename?: FieldRename,
): ValuePlan => {
  const byKey = matchable(existing, rename);
  const matches = wanted.map((value) => ({ value, match: byKey.get(keyText(value)) }));
  const matched = new Set(matches.flatMap(({ match }) => (match === undefined ? [] : [match.id])));
  const neededNames = new Set(
    matches.filter(({ value, match }) => match?.name !== value.name).map(({ value }) => value.name),
  );
  const unwanted = existing.filter(({ id }) => !matched.has(id));
  return {
    create: matches.filter(({ match }) => match === undefined).map(({ value }) => value),
    change: matches.flatMap(({ value, match }) => (match === undefined ? [] : changeOf(match, value))),
    unchanged: matches.filter(({ value, match }) => match !== undefined && isAsWanted(match, value)).length,
    archive: unwanted.filter(({ archived }) => !archived).map(({ id, name }) => ({ id, name })),
    release: unwanted
      .filter(({ name }) => neededNames.has(name))
      .map(({ id, name }) => ({ id, name: releasedName(id, name) })),
  };
};

const matchable = (
  existing: readonly ManagedValue[],
  rename: FieldRename | undefined,
): ReadonlyMap<string, ManagedValue> => {
  const byKey = new Map(existing.map((value) => [keyText(value), value]));
  if (rename === undefined) return byKey;
  for (const value of existing) {
    const path = renamedPath(value.path, rename);
    if (path === undefined) continue;
    byKey.delete(keyText(value));
  }
  for (const value of existing) {
    const path = renamedPath(value.path, rename);
    if (path !== undefined) byKey.set(keyText({ path, member: value.member }), value);
  }
  return byKey;
};

const renamedPath = (path: string, { from, to }: FieldRename): string | undefined => {
  if (path === from) return to;
  return path.startsWith(`${from}.`) ? `${to}${path.slice(from.length)}` : undefined;
};

const isAsWanted = (existing: ManagedValue, wanted: WantedValue): boolean =>
  !existing.archived &&
  existing.name === wanted.name &&
  existing.path === wanted.path &&
  isDeepStrictEqual(existing.content, wanted.content) &&
  isDeepStrictEqual(existing.metadata, wanted.metadata);

const changeOf = (existing: ManagedValue, wanted: WantedValue): readonly ManagedChange[] =>
  isAsWanted(existing, wanted)
    ? []
    : [{ ...wanted, id: existing.id, revived: existing.archived, renamed: existing.name !== wanted.name }];

/** Longer names are truncated; the id keeps them distinct. */
const releasedName = (id: string, name: string): string => `${name.slice(0, 450)} (replaced ${id})`;
