import {
  assetKey,
  type BoundAsset,
  compileContext,
  type ContextModel,
  type ContextWorld,
  foreignKeysOf,
  type Relationship,
  relationsInUse,
  type Settled,
} from '@decision/contexts';
import { type ContextCascadeSummary, ServiceError } from '@decision/contracts';
import {
  type ContextInForce,
  type Database,
  findBoundAssets,
  findContextInForce,
  findVisibleAround,
  type ForeignKeyName,
  loadContextWorld,
  type Transaction,
  type VisibleAround,
  type WorkspaceAccess,
} from '@decision/persistence';
import { LRUCache } from 'lru-cache';
import { createBoundAssets } from './bound-assets';
import { toWorld } from './world';

/**
 * The whole workspace, on behalf of the same identity: the rights of an execution, once the identity is known to see its context (V2). What
 * a request names, and what its answer shows, is read with `accessOf`.
 */
export const wholeWorkspace = (access: WorkspaceAccess): WorkspaceAccess => ({
  ...access,
  userGroups: undefined,
  userId: undefined,
});

/** A context with everything that currently determines the state of its instances. */
export interface ContextInUse {
  readonly id: string;
  readonly slug: string;
  readonly model: ContextModel;
  /** Bound rules and flows in the versions that are effective now. */
  readonly assets: readonly BoundAsset[];
  /** Ids of all bound assets, by {@link assetKey}. */
  readonly assetIds: ReadonlyMap<string, string>;
  readonly world: ContextWorld;
  /** Identifies this state of the definitions of the workspace. */
  readonly revision: string;
  /** Models of all contexts of the workspace, by id. */
  readonly modelOf: (contextId: string) => ContextModel;
  /** Facts that name instances of other contexts, including relationships that are still being created. */
  readonly foreignKeys: readonly string[];
  /** Relationships that formulas or assets read. */
  readonly relations: readonly Relationship[];
  /**
   * The definition in force when an earlier request read the context ({@link ContextDirectory.recall}); undefined if it was read for this
   * request.
   */
  readonly recalled?: ContextInForce | undefined;
}

/** A context that a request names, with its surroundings as far as the caller sees them. */
export interface OpenContext extends ContextInUse {
  readonly view: CallerView;
}

/** Finds contexts in their current state; immutable data is cached. */
export interface ContextDirectory {
  /** The context of a slug, if the access sees it. Throws `context_not_found`. */
  open(access: WorkspaceAccess, slug: string): Promise<OpenContext>;
  /**
   * The context of a slug as the last request read it, without a query to the database; undefined if this process does not have it, or if the
   * access may not see it. Before instances are admitted by it, the caller checks that it is still in force.
   */
  recall(access: WorkspaceAccess, slug: string): OpenContext | undefined;
  /** The context of an id; the transaction sees the whole workspace. Undefined if it no longer exists. */
  openById(transaction: Transaction, workspaceId: string, id: string): Promise<ContextInUse | undefined>;
  /** The published rules and flows that are bound to a context. A transaction that changes definitions may call only this, not `openById`. */
  assetsOf(transaction: Transaction, slug: string): Promise<readonly BoundAsset[]>;
}

/** Dependencies of the use cases on definitions. */
export interface DefinitionsContext {
  readonly database: Database;
  readonly directory: ContextDirectory;
  readonly newId: () => string;
}

interface CompiledWorld {
  readonly revision: number;
  readonly foreignKeys: readonly ForeignKeyName[];
  readonly world: ContextWorld;
  readonly modelOf: (contextId: string) => ContextModel;
  /** By slug: contexts whose whole state follows from the definition in force. */
  readonly opened: Map<string, RecalledContext>;
}

type RecalledContext = ContextInUse & { readonly recalled: ContextInForce };

const MAX_WORKSPACES = 1_000;

export const createContextDirectory = (database: Database): ContextDirectory => {
  const worlds = new LRUCache<string, CompiledWorld>({ max: MAX_WORKSPACES });
  const toAssets = createBoundAssets();

  const loadWorld = async (transaction: Transaction, workspaceId: string, revision: number): Promise<CompiledWorld> => {
    const known = worlds.get(workspaceId);
    if (known?.revision === revision) return known;
    const stored = await loadContextWorld(transaction);
    const world = toWorld(stored);
    const compiled = {
      ...{ revision, world, foreignKeys: stored.foreignKeys, modelOf: createModels(world) },
      opened: new Map<string, RecalledContext>(),
    };
    worlds.set(workspaceId, compiled);
    return compiled;
  };

  const toContextInUse = async (
    transaction: Transaction,
    workspaceId: string,
    { id, revision, assets: bound }: ContextInForce,
  ): Promise<ContextInUse | undefined> => {
    const { world, foreignKeys, modelOf } = await loadWorld(transaction, workspaceId, revision);
    const definition = world.contexts.get(id);
    if (definition === undefined) return undefined;
    const model = modelOf(id);
    const assets = await toAssets(transaction, bound);
    const used = relationsInUse(model, assets);
    const assetIds = new Map(bound.map(({ kind, slug, id: assetId }) => [assetKey({ type: kind, slug }), assetId]));
    return {
      ...{ id, slug: definition.slug, model, assets, assetIds, world, revision: String(revision), modelOf },
      foreignKeys: foreignKeysFor(id, world, foreignKeys),
      relations: [...model.relations.values()].filter(({ name }) => used.has(name)),
    };
  };

  const openById: ContextDirectory['openById'] = async (transaction, workspaceId, id) => {
    const found = await findContextInForce(transaction, { id });
    return found && toContextInUse(transaction, workspaceId, found);
  };

  const openBySlug = async (transaction: Transaction, workspaceId: string, slug: string): Promise<ContextInUse> => {
    const found = await findContextInForce(transaction, { slug });
    const opened = found && (await toContextInUse(transaction, workspaceId, found));
    if (found === undefined || opened === undefined) throw contextNotFound(slug);
    const world = worlds.get(workspaceId);
    // The versions that flows follow change independently of the flows.
    if (world?.revision === found.revision && opened.assets.every(({ type }) => type === 'rule'))
      world.opened.set(slug, { ...opened, recalled: found });
    return opened;
  };

  return {
    openById,
    recall: (access, slug) => {
      if (isRestricted(access)) return undefined;
      const context = worlds.get(access.workspaceId)?.opened.get(slug);
      return context && { ...context, view: new CallerView(access, undefined) };
    },
    assetsOf: async (transaction, slug) => toAssets(transaction, await findBoundAssets(transaction, slug)),
    open: async (access, slug) => {
      const { workspaceId } = access;
      const around = isRestricted(access)
        ? await database.inWorkspace(access, (transaction) => findVisibleAround(transaction, slug))
        : undefined;
      if (isRestricted(access) && around === undefined) throw contextNotFound(slug);
      const context = await database.inWorkspace(wholeWorkspace(access), (transaction) =>
        openBySlug(transaction, workspaceId, slug),
      );
      return { ...context, view: new CallerView(access, around) };
    },
  };
};

const isRestricted = ({ userGroups }: WorkspaceAccess): boolean => userGroups !== undefined;

const foreignKeysFor = (id: string, world: ContextWorld, registered: readonly ForeignKeyName[]): readonly string[] => [
  ...new Set([
    ...foreignKeysOf(id, world),
    ...registered.filter(({ contextId }) => contextId === id).map(({ fact }) => fact),
  ]),
];

export const contextNotFound = (name: string): ServiceError =>
  new ServiceError('context_not_found', `No context "${name.slice(0, 200)}" is visible to this key.`, {
    context: name.slice(0, 200),
  });

const createModels = (world: ContextWorld): ((contextId: string) => ContextModel) => {
  const models = new Map<string, ContextModel>();
  return (contextId) => {
    const known = models.get(contextId);
    if (known !== undefined) return known;
    const definition = world.contexts.get(contextId);
    const compilation = definition && compileContext(definition, world);
    if (compilation?.ok !== true) {
      throw new ServiceError('internal_error', 'A stored context cannot be compiled any more.', {
        context: definition?.slug,
      });
    }
    models.set(contextId, compilation.model);
    return compilation.model;
  };
};

/** The part of a context's surroundings that the caller of a request sees: the answers show nothing else (V9 to V11). */
class CallerView {
  /** Undefined: everything. */
  private readonly contexts: ReadonlySet<string> | undefined;
  private readonly relationships: ReadonlySet<string> | undefined;
  private readonly assets: ReadonlySet<string> | undefined;

  constructor(
    /** The caller's own access: everything that a request names or an answer shows is read with it. */
    readonly access: WorkspaceAccess,
    around: VisibleAround | undefined,
  ) {
    this.contexts = around && new Set(around.contexts);
    this.relationships = around && new Set(around.relationships);
    this.assets = around && new Set(around.assets);
  }

  seesContext(slug: string): boolean {
    return this.contexts?.has(slug) ?? true;
  }

  seesRelationship({ id }: { readonly id: string }): boolean {
    return this.relationships?.has(id) ?? true;
  }

  /** Whether the caller sees the bound asset of this key, such as `rule:<slug>`. */
  seesAsset(key: string): boolean {
    return this.assets?.has(key) ?? true;
  }

  executions<T>(all: Readonly<Record<string, T>>): Record<string, T> {
    return Object.fromEntries(Object.entries(all).filter(([key]) => this.seesAsset(key)));
  }

  /** Outcome of an instance as the caller sees it: all facts, and the runs that are visible. */
  outcome<T extends { readonly settled: Settled }>(outcome: T): T {
    if (this.assets === undefined) return outcome;
    const { settled } = outcome;
    return {
      ...outcome,
      settled: {
        ...settled,
        runs: settled.runs.filter(({ type, slug }) => this.seesAsset(`${type}:${slug}`)),
        executions: this.executions(settled.executions),
        unfinished: settled.unfinished.filter((key) => this.seesAsset(key)),
      },
    };
  }

  summaries(all: readonly ContextCascadeSummary[]): ContextCascadeSummary[] {
    return all.filter(({ context }) => this.seesContext(context));
  }
}
