import { type ContextDirectory, contextNotFound, type DefinitionsContext, toDefinition } from '@decision/operations';
import { assignableGroups } from '@decision/service-kit';
import {
  assetKey,
  type BoundAsset,
  type ContextModel,
  factsRead,
  factsWritten,
  refusalsOfChange,
  sameValue,
} from '@decision/contexts';
import {
  changedValues,
  type ContextSchema,
  contextSettings,
  type CreateContextRequest,
  type SavedContext,
  ServiceError,
  slugOf,
  toGiven,
  type UpdateContextRequest,
} from '@decision/contracts';
import {
  asWorkspace,
  changeContexts,
  type ContextRecord,
  type ContextSettings,
  findBoundAssets,
  findCollectionGroups,
  findContext,
  findContextByName,
  findCreatedLike,
  findHeldFacts,
  insertContext,
  listFolders,
  loadCollections,
  lockContextWorld,
  saveCollectionGroups,
  type Transaction,
  updateContext as updateStoredContext,
  type WorkspaceAccess,
} from '@decision/persistence';
import { toSavedContext, withNames } from './read-contexts';
import { changeSeenWorld, keptFormulas, loadSeenWorld, requireSavable, requireValid } from './savable';

/** Slugs that are reserved by paths of the API. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set(['batch']);
const MOST_SLUG_ATTEMPTS = 100;
const SLUG_LENGTH = 190;

/** `Order lines` becomes `order-lines`. */
const contextSlugOf = (name: string): string => {
  const slug = slugOf(name, SLUG_LENGTH);
  return slug === '' || RESERVED_SLUGS.has(slug) ? `context${slug === '' ? '' : `-${slug}`}` : slug;
};

/**
 * Creates a context. A repeated request by the same identity answers the existing context (C156). Throws `context_invalid`,
 * `context_slug_taken`, `invalid_request`.
 */
export const createContext = async (
  { database, newId }: DefinitionsContext,
  access: WorkspaceAccess,
  request: CreateContextRequest,
): Promise<SavedContext> => {
  const id = newId();
  const settings: ContextSettings = {
    ...toGiven(contextSettings, request),
    userGroups: assignableGroups(access.userGroups, request.user_groups),
    folderId: null,
  };
  if (request.slug !== undefined) requireFreeForm(request.slug);
  return database.inWorkspace(access, async (transaction) => {
    await lockContextWorld(transaction);
    const { whole: world } = await loadSeenWorld(transaction, access);
    const filed = await inFolder(transaction, settings, request.folder);
    const like = await findCreatedLike(transaction, { name: request.name, slug: request.slug });
    const known = like.find((context) => isSeen(access, context) && hasSettings(context, filed));
    if (known !== undefined) return toSavedContext(known);
    const slug = request.slug ?? contextSlugOf(request.name);
    const contexts = new Map([...world.contexts, [id, toDefinition({ ...filed, id, slug })]]);
    requireValid(id, { ...world, contexts });
    for (let attempt = 1; attempt <= MOST_SLUG_ATTEMPTS; attempt += 1) {
      const inserted = await insertContext(transaction, {
        ...filed,
        id,
        slug: attempt === 1 ? slug : `${slug}-${attempt}`,
      });
      if (inserted.status === 'inserted') {
        await saveCollections(transaction, access, inserted.context, undefined);
        return toSavedContext(inserted.context);
      }
      if (request.slug !== undefined) throw slugTaken(slug);
    }
    throw new ServiceError(
      'invalid_request',
      `Too many contexts are named like "${request.name}"; choose another name.`,
    );
  });
};

const UUID_FORM = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Throws `invalid_request` for a slug that paths would interpret differently. */
const requireFreeForm = (slug: string): void => {
  if (!RESERVED_SLUGS.has(slug) && !UUID_FORM.test(slug)) return;
  const message = `must be neither ${[...RESERVED_SLUGS].map((word) => `"${word}"`).join(', ')} nor of the form of an id`;
  throw new ServiceError('invalid_request', `The field "slug" ${message}.`, { problems: [{ path: '/slug', message }] });
};

const slugTaken = (slug: string): ServiceError =>
  new ServiceError(
    'context_slug_taken',
    `Another context has the slug "${slug}"; choose another one, or leave it out to have one made of the name.`,
    { slug },
  );

const isSeen = ({ userGroups: own }: WorkspaceAccess, { userGroups }: ContextRecord): boolean =>
  own === undefined || userGroups.some((group) => own.includes(group));

/** Whether a stored context equals the one that these settings would create. */
const hasSettings = (context: ContextRecord, settings: ContextSettings): boolean =>
  (Object.keys(settings) as (keyof ContextSettings)[]).every((key) =>
    // the keys of the settings are those of their type
    sameValue(
      key === 'schema' ? withNames(context.schema) : context[key],
      key === 'schema' ? withNames(settings.schema) : settings[key],
    ),
  );

/** Changes a context; its instances are kept. Throws `context_not_found`, `context_invalid`, `context_change_refused`, `invalid_request`. */
export const updateContext = async (
  { database, directory }: DefinitionsContext,
  access: WorkspaceAccess,
  name: string,
  request: UpdateContextRequest,
): Promise<SavedContext> => {
  return database.inWorkspace(access, async (transaction) => {
    const seen = await findContextByName(transaction, name);
    if (seen === undefined) throw contextNotFound(name);
    const { id } = seen;
    await lockContextWorld(transaction);
    await changeContexts(transaction, [id]);
    const before = await findContext(transaction, { id });
    if (before === undefined) throw contextNotFound(id);
    const userGroups = assignableGroups(access.userGroups, request.user_groups, before.userGroups);
    const { folderId } = before;
    const changed = { ...changedValues(contextSettings, request, before), userGroups, folderId };
    const settings = await inFolder(transaction, changed, request.folder);
    await checkChange(transaction, access, { directory, before, settings });
    const after = await updateStoredContext(transaction, id, settings);
    if (after === undefined) throw contextNotFound(id);
    await saveCollections(transaction, access, after, before.schema);
    return toSavedContext(after);
  });
};

interface ChangeToCheck {
  readonly directory: ContextDirectory;
  readonly before: ContextRecord;
  readonly settings: ContextSettings;
}

const checkChange = async (
  transaction: Transaction,
  access: WorkspaceAccess,
  { directory, before, settings }: ChangeToCheck,
): Promise<void> => {
  const { id, slug } = before;
  const world = await loadSeenWorld(transaction, access);
  const former = requireValid(id, world.whole);
  const changed = changeSeenWorld(world, ({ contexts, relationships }) => ({
    contexts: new Map([...contexts, [id, toDefinition({ ...settings, id, slug })]]),
    relationships,
  }));
  const after = requireSavable(id, changed, keptFormulas(before.schema, settings.schema));
  const added = [...after.facts.keys(), ...after.derived.keys()].filter(
    (fact) => !former.facts.has(fact) && !former.derived.has(fact),
  );
  const { hasInstances, held } = await findHeldFacts(transaction, id, added);
  const assets = await asWorkspace(transaction, () => directory.assetsOf(transaction, slug));
  const seen = new Set((await findBoundAssets(transaction, slug)).map(({ kind, slug: bound }) => `${kind}:${bound}`));
  const assetsNaming = namersIn(assets, seen);
  const living = { hasInstances, holdsUndeclared: (fact: string) => held.has(fact), assetsNaming };
  const refusals = refusalsOfChange(former, after, living);
  if (refusals.length > 0) throw changeRefused(after, refusals);
};

/** Keys of the assets that name a fact; hidden ones without their names (V12). */
const namersIn = (assets: readonly BoundAsset[], seen: ReadonlySet<string>): ((fact: string) => readonly string[]) => {
  const namers = new Map<string, Set<string>>();
  for (const asset of assets) {
    const name = seen.has(assetKey(asset)) ? assetKey(asset) : `a ${asset.type} that this key does not see`;
    for (const fact of [...factsRead(asset), ...factsWritten(asset)])
      namers.set(fact, (namers.get(fact) ?? new Set()).add(name));
  }
  return (fact) => [...(namers.get(fact) ?? [])];
};

const changeRefused = ({ definition }: ContextModel, refusals: ReturnType<typeof refusalsOfChange>): ServiceError =>
  new ServiceError(
    'context_change_refused',
    `The context "${definition.slug}" cannot change like this: ${refusals[0]?.message ?? ''}`,
    { refusals },
  );

/** Settings with the folder that a request names, by id or by name. Throws `invalid_request` if no such folder is visible. */
const inFolder = async (
  transaction: Transaction,
  settings: ContextSettings,
  folder: string | null | undefined,
): Promise<ContextSettings> => {
  if (folder === undefined) return settings;
  if (folder === null) return { ...settings, folderId: null };
  const folders = await listFolders(transaction, {});
  const found = folders.find(({ id, name, type }) => id === folder || (type === 'context' && name === folder));
  if (found !== undefined) return { ...settings, folderId: found.id };
  const message = 'must be the id or name of a folder of contexts';
  throw new ServiceError('invalid_request', `The field "folder" ${message}.`, {
    problems: [{ path: '/folder', message }],
  });
};

const collectionsOf = ({ base }: ContextSchema): readonly string[] =>
  base.flatMap(({ values_collection: name }) => name ?? []);

/**
 * Stores whose view applies to each collection that a saved context limits facts to: that of the key which named it first (V8). Throws
 * `context_invalid` if a restricted key names a collection of which it sees no member; to such a key, a hidden collection and a missing one are
 * the same.
 */
const saveCollections = async (
  transaction: Transaction,
  { userGroups }: Pick<WorkspaceAccess, 'userGroups'>,
  { id, slug, schema }: { readonly id: string; readonly slug: string; readonly schema: ContextSchema },
  before: ContextSchema | undefined,
): Promise<void> => {
  const names = collectionsOf(schema);
  const known = new Set(before === undefined ? [] : collectionsOf(before));
  const added = names.filter((name) => !known.has(name));
  if (added.length === 0) return;
  if (userGroups !== undefined) await requireSeen(transaction, slug, schema, added);
  const kept = Object.entries(await findCollectionGroups(transaction, id)).filter(([name]) => known.has(name));
  const groups = [...kept, ...added.map((name) => [name, userGroups ?? null] as const)];
  await saveCollectionGroups(transaction, id, Object.fromEntries(groups));
};

const requireSeen = async (
  transaction: Transaction,
  slug: string,
  { base }: ContextSchema,
  added: readonly string[],
): Promise<void> => {
  const members = await loadCollections(transaction, added);
  const unknown = new Set(added.filter((name) => (members.get(name) ?? []).length === 0));
  const problems = base.flatMap(({ values_collection: name }, index) => {
    if (name === undefined || name === null || !unknown.has(name)) return [];
    const message = `No member of the collection of values "${name}" is visible to this key; write one first, or name another collection.`;
    return [{ code: 'collection_unknown', path: `/schema/base/${index}/values_collection`, message }];
  });
  if (problems.length === 0) return;
  throw new ServiceError(
    'context_invalid',
    `The context "${slug}" cannot be saved like this: ${problems[0]?.message ?? ''}`,
    { problems },
  );
};
