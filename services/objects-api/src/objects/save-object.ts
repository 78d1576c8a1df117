import {
  type ObjectRecord,
  type SavedObject,
  ServiceError,
  type UpsertObjectAnswer,
  type UpsertObjectRequest,
} from '@decision/contracts';
import {
  findObject,
  insertObject,
  type Transaction,
  updateObject,
  type ValuePlan,
  type WorkspaceAccess,
} from '@decision/persistence';
import { type AnnouncingContext, changeAndAnnounce } from '../announcements';
import { runDry } from '../dry-run';
import { staleValues } from '../values/value-answers';
import { objectChanged, objectNameTaken, objectNotFound, toWorkspaceObject } from './object-answers';
import { readObject, type ReadObject, readObjectName, readRename } from './read-object';
import { syncValues } from './sync-values';

interface Saved {
  readonly created: boolean;
  readonly object: ObjectRecord;
  readonly plan: ValuePlan;
}

/**
 * Creates or changes an object and its values in one transaction. A dry run is the same transaction, rolled back: it reports exactly what the
 * save does, including refusals. Throws `object_not_found`, `object_invalid`, `object_name_taken`, `object_changed`, `value_collision`,
 * `forbidden`.
 */
export const saveObject = async (
  context: AnnouncingContext,
  access: WorkspaceAccess,
  request: UpsertObjectRequest,
): Promise<UpsertObjectAnswer> => {
  const given = readGiven(request);
  const save = (transaction: Transaction): Promise<Saved> => saveIn(transaction, access, given);
  if (request.dry_run === true) return toPlannedAnswer(await runDry(context.database, access, save));
  const saved = await changeAndAnnounce(context, access, async (transaction, announceLater) => {
    announceLater(staleValues(access));
    return save(transaction);
  });
  return toAnswer(saved);
};

/** A request, parsed before the transaction begins. */
interface GivenObject {
  readonly request: UpsertObjectRequest;
  readonly name: string | undefined;
  readonly read: ReadObject | undefined;
}

const readGiven = (request: UpsertObjectRequest): GivenObject => {
  if (request.id === undefined && request.name === undefined) throw missing('name', 'a name or an id');
  return {
    request,
    name: request.name === undefined ? undefined : readObjectName(request.name),
    read: request.content === undefined ? undefined : readObject(textOf(request.content)),
  };
};

/** Content given as an object is stored as text, like all content. */
const textOf = (content: string | object): string => (typeof content === 'string' ? content : JSON.stringify(content));

const missing = (field: string, what: string): ServiceError =>
  new ServiceError('invalid_request', `The object needs ${what}.`, {
    problems: [{ in: 'body', path: `/${field}`, message: `is needed: ${what}` }],
  });

const saveIn = async (transaction: Transaction, access: WorkspaceAccess, given: GivenObject): Promise<Saved> => {
  const existing = await findExisting(transaction, given);
  if (existing !== undefined) return change(transaction, existing, given);
  const created = await create(transaction, access, given);
  if (created !== undefined) return created;
  // Another caller created it after the lookup.
  const other = await findExisting(transaction, given);
  if (other === undefined) throw objectNameTaken(given.name ?? '');
  return change(transaction, other, given);
};

/** The object to change, locked: fields that the request omits are written back as they are found here. */
const findExisting = async (
  transaction: Transaction,
  { request: { id }, name = '' }: GivenObject,
): Promise<ObjectRecord | undefined> => {
  if (id === undefined) return findObject(transaction, { name }, 'change');
  const existing = await findObject(transaction, { id }, 'change');
  if (existing === undefined) throw objectNotFound(id);
  return existing;
};

/** Undefined if the name is taken. */
const create = async (
  transaction: Transaction,
  access: WorkspaceAccess,
  { request, name = '', read }: GivenObject,
): Promise<Saved | undefined> => {
  if (read === undefined) throw missing('content', 'its content, since it is new');
  if (request.expected_updated_at !== undefined) throw objectChanged(name, null);
  const userGroups = request.user_groups ?? access.userGroups ?? [];
  const inserted = await insertObject(transaction, savedObject(name, read, userGroups));
  if (inserted.status === 'name_taken') return undefined;
  const plan = await syncValues(transaction, inserted.object, read.wanted, readRename(request, read));
  return { created: true, object: inserted.object, plan };
};

const change = async (
  transaction: Transaction,
  existing: ObjectRecord,
  { request, name = existing.name, read = readObject(existing.content) }: GivenObject,
): Promise<Saved> => {
  const { expected_updated_at: expectedUpdatedAt, user_groups: userGroups = existing.userGroups } = request;
  const rename = readRename(request, read);
  const outcome = await updateObject(transaction, existing.id, savedObject(name, read, userGroups), {
    expectedUpdatedAt,
  });
  switch (outcome.status) {
    case 'name_taken':
      throw objectNameTaken(name);
    case 'not_as_expected': {
      const now = await findObject(transaction, { id: existing.id });
      throw now === undefined ? objectNotFound(existing.id) : objectChanged(existing.name, now.updatedAt);
    }
    case 'updated':
      return {
        created: false,
        object: outcome.object,
        plan: await syncValues(transaction, outcome.object, read.wanted, rename),
      };
  }
};

const savedObject = (
  name: string,
  { content, contentType, parsedFields }: ReadObject,
  userGroups: readonly string[],
): SavedObject => ({ name, content, contentType, parsedFields, userGroups });

const countsOf = ({ create: created, change: changed, unchanged }: ValuePlan) => {
  const revived = changed.filter((value) => value.revived).length;
  return { created: created.length, revived, updated: changed.length - revived, unchanged };
};

const syncedBy = ({ create: created, change: changed, unchanged }: ValuePlan): number =>
  created.length + changed.length + unchanged;

const toAnswer = ({ created, object, plan }: Saved): UpsertObjectAnswer => ({
  created,
  object: toWorkspaceObject(object),
  values: { synced: syncedBy(plan), archived: plan.archive.length, ...countsOf(plan) },
});

const toPlannedAnswer = ({ created, object, plan }: Saved): UpsertObjectAnswer => ({
  dry_run: true,
  created,
  object: toWorkspaceObject(object),
  values: {
    ...{ synced: syncedBy(plan), archived: plan.archive.length },
    ...{ would_sync: syncedBy(plan), would_archive: [...plan.archive] },
    ...countsOf(plan),
  },
});
