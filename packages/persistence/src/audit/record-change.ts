import { query, type Transaction } from '../connection/query';
import { type Change } from './change';
import { toStoredChange } from './stored-change';

/** Largest number of names in an entry about many things; the others are only counted. */
const MAX_NAMES = 50;

/** Summary of many things in an entry. */
interface CountedNames {
  readonly count: number;
  /** The first 50, in the order given. */
  readonly names: readonly string[];
}

/** A summary of bounded size for any number of things; undefined, which is not stored, if there are none. */
export const countNames = (things: readonly { readonly name: string }[]): CountedNames | undefined =>
  things.length === 0 ? undefined : { count: things.length, names: things.slice(0, MAX_NAMES).map(({ name }) => name) };

/** The name of the key, or the address of the person, is stored beside its id: both can be deleted. */
const INSERT = /* sql */ `
  insert into audit_entries (actor_name, kind, action, subject_id, subject_name, user_groups, other_groups, before, after)
  select
    coalesce(
      (select email from users where id = cast(substring(app_actor() from '^user:([0-9a-f-]{36})$') as uuid)),
      (select name from api_keys where id = cast(substring(app_actor() from '[0-9a-f-]{36}$') as uuid))
    ),
    kind, action, id, name,
    coalesce((select array_agg(given_group) from json_array_elements_text(cast(groups as json)) as given_group), '{}'),
    case when others <> '' then coalesce((select array_agg(other) from json_array_elements_text(cast(others as json)) as other), '{}') end,
    cast(nullif(before, '') as json), cast(nullif(after, '') as json)
  from unnest(
    cast(:kinds as text[]), cast(:actions as text[]), cast(:ids as text[]), cast(:names as text[]), cast(:groups as text[]),
    cast(:others as text[]), cast(:befores as text[]), cast(:afters as text[])
  ) as given (kind, action, id, name, groups, others, before, after)`;

/**
 * Records changes in the transaction that makes them, so that either both are committed or neither. Actor, time and origin come from the
 * transaction's access. Secrets are masked and fields above 64 KiB left out; any number of changes is one statement (decision 17).
 */
export const recordChange = async (transaction: Transaction, change: Change | readonly Change[]): Promise<void> => {
  const changes = (Array.isArray(change) ? (change as readonly Change[]) : [change as Change]).map(toStoredChange); // isArray does not narrow readonly arrays
  if (changes.length === 0) return;
  await query(transaction, INSERT, {
    kinds: changes.map(({ kind }) => kind),
    actions: changes.map(({ action }) => action),
    ids: changes.map(({ id }) => id),
    names: changes.map(({ name }) => name),
    groups: changes.map(({ userGroups }) => JSON.stringify(userGroups)),
    others: changes.map(({ otherGroups }) => (otherGroups === null ? '' : JSON.stringify(otherGroups))),
    befores: changes.map(({ before }) => before ?? ''),
    afters: changes.map(({ after }) => after ?? ''),
  });
};
