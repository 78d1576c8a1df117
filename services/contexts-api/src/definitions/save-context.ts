import {
  assetKey,
  type BoundAsset,
  type ContextModel,
  factsRead,
  factsWritten,
  refusalsOfChange,
} from '@decision/contexts';
import {
  contextLimits,
  type CreateContextRequest,
  type SavedContext,
  ServiceError,
  type UpdateContextRequest,
} from '@decision/contracts';
import {
  type ContextRecord,
  type ContextSettings,
  type Database,
  findContext,
  findHeldFacts,
  insertContext,
  listFolders,
  loadContextWorld,
  lockContextWorld,
  type Transaction,
  updateContext as updateStoredContext,
  type WorkspaceAccess,
} from '@decision/persistence';
import { wholeWorkspace } from '../access';
import { assignableGroups } from './assignable-groups';
import { requireValid } from './check-world';
import { toSavedContext } from './context-answers';
import { type ContextDirectory, contextNotFound } from './context-directory';
import { toDefinition, toWorld } from './to-definition';

export interface DefinitionsContext {
  readonly database: Database;
  readonly directory: ContextDirectory;
  readonly newId: () => string;
}

/** Slugs that paths of the API use otherwise. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set(['batch']);
const MOST_SLUG_ATTEMPTS = 100;
const SLUG_LENGTH = 190;

/** `Order lines` becomes `order-lines`. */
export const slugOf = (name: string): string => {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH)
    .replace(/^-+|-+$/g, '');
  return slug === '' || RESERVED_SLUGS.has(slug) ? `context${slug === '' ? '' : `-${slug}`}` : slug;
};

/** Creates a context. Throws `context_invalid`, `invalid_request`. */
export const createContext = async (
  { database, newId }: DefinitionsContext,
  access: WorkspaceAccess,
  request: CreateContextRequest,
): Promise<SavedContext> => {
  const id = newId();
  const settings = settingsOf(request, {
    ...{ name: request.name, schema: request.schema, identityFact: request.identity_fact, ...DEFAULTS },
    userGroups: assignableGroups(access.userGroups, request.user_groups),
  });
  return database.inWorkspace(wholeWorkspace(access), async (transaction) => {
    await lockContextWorld(transaction);
    const world = toWorld(await loadContextWorld(transaction));
    const filed = await inFolder(transaction, access, settings, request.folder);
    const slug = slugOf(request.name);
    const contexts = new Map([...world.contexts, [id, toDefinition({ ...filed, id, slug })]]);
    requireValid(id, { ...world, contexts });
    for (let attempt = 1; attempt <= MOST_SLUG_ATTEMPTS; attempt += 1) {
      const inserted = await insertContext(transaction, {
        ...filed,
        id,
        slug: attempt === 1 ? slug : `${slug}-${attempt}`,
      });
      if (inserted.status === 'inserted') return toSavedContext(inserted.context);
    }
    throw new ServiceError(
      'invalid_request',
      `Too many contexts are named like "${request.name}"; choose another name.`,
    );
  });
};

const DEFAULTS = {
  description: null,
  autoExecuteDecisions: true,
  ttlSeconds: null,
  historyLimit: contextLimits.historyDefault,
  onSchemaMismatch: 'ignore',
  sourceObjects: [],
  folderId: null,
} as const;

/** Changes a context; its instances stay. Throws `context_not_found`, `context_invalid`, `context_change_refused`, `invalid_request`. */
export const updateContext = async (
  { database, directory }: DefinitionsContext,
  access: WorkspaceAccess,
  id: string,
  request: UpdateContextRequest,
): Promise<SavedContext> => {
  const seen = await database.inWorkspace(access, (transaction) => findContext(transaction, { id }));
  if (seen === undefined) throw contextNotFound(id);
  return database.inWorkspace(wholeWorkspace(access), async (transaction) => {
    await lockContextWorld(transaction);
    const before = await findContext(transaction, { id });
    if (before === undefined) throw contextNotFound(id);
    const userGroups = assignableGroups(access.userGroups, request.user_groups, before.userGroups);
    const settings = await inFolder(
      transaction,
      access,
      settingsOf(request, { ...before, userGroups }),
      request.folder,
    );
    await checkChange(transaction, { directory, before, settings });
    const after = await updateStoredContext(transaction, id, settings);
    if (after === undefined) throw contextNotFound(id);
    return toSavedContext(after);
  });
};

interface ChangeToCheck {
  readonly directory: ContextDirectory;
  readonly before: ContextRecord;
  readonly settings: ContextSettings;
}

const checkChange = async (transaction: Transaction, { directory, before, settings }: ChangeToCheck): Promise<void> => {
  const { id, slug } = before;
  const world = toWorld(await loadContextWorld(transaction));
  const former = requireValid(id, world);
  const after = requireValid(id, {
    ...world,
    contexts: new Map([...world.contexts, [id, toDefinition({ ...settings, id, slug })]]),
  });
  const added = [...after.facts.keys(), ...after.derived.keys()].filter(
    (fact) => !former.facts.has(fact) && !former.derived.has(fact),
  );
  const { hasInstances, held } = await findHeldFacts(transaction, id, added);
  const assets = await directory.assetsOf(transaction, slug);
  const living = { hasInstances, holdsUndeclared: (fact: string) => held.has(fact), assetsNaming: namersIn(assets) };
  const refusals = refusalsOfChange(former, after, living);
  if (refusals.length > 0) throw changeRefused(after, refusals);
};

const namersIn =
  (assets: readonly BoundAsset[]) =>
  (fact: string): readonly string[] =>
    assets.filter((asset) => factsRead(asset).includes(fact) || factsWritten(asset).includes(fact)).map(assetKey);

const changeRefused = ({ definition }: ContextModel, refusals: ReturnType<typeof refusalsOfChange>): ServiceError =>
  new ServiceError(
    'context_change_refused',
    `The context "${definition.slug}" cannot change like this: ${refusals[0]?.message ?? ''}`,
    { refusals },
  );

/** What a request says, over what there is. */
const settingsOf = (request: UpdateContextRequest, before: ContextSettings): ContextSettings => ({
  name: request.name ?? before.name,
  description: request.description === undefined ? before.description : request.description,
  schema: request.schema ?? before.schema,
  identityFact: request.identity_fact ?? before.identityFact,
  autoExecuteDecisions: request.auto_execute_decisions ?? before.autoExecuteDecisions,
  ttlSeconds: request.ttl_seconds === undefined ? before.ttlSeconds : request.ttl_seconds,
  historyLimit: request.history_limit ?? before.historyLimit,
  onSchemaMismatch: request.on_schema_mismatch ?? before.onSchemaMismatch,
  sourceObjects: request.source_objects ?? before.sourceObjects,
  userGroups: before.userGroups,
  folderId: before.folderId,
});

/** Settings in the folder that a request names, by id or by name. Throws `invalid_request` where no such folder is visible. */
const inFolder = async (
  transaction: Transaction,
  { userGroups }: WorkspaceAccess,
  settings: ContextSettings,
  folder: string | null | undefined,
): Promise<ContextSettings> => {
  if (folder === undefined) return settings;
  if (folder === null) return { ...settings, folderId: null };
  const folders = (await listFolders(transaction, {})).filter(
    (known) => userGroups === undefined || known.userGroups.some((group) => userGroups.includes(group)),
  );
  const found = folders.find(({ id, name, type }) => id === folder || (type === 'context' && name === folder));
  if (found !== undefined) return { ...settings, folderId: found.id };
  const message = 'must be the id or name of a folder of contexts';
  throw new ServiceError('invalid_request', `The field "folder" ${message}.`, {
    problems: [{ path: '/folder', message }],
  });
};
