import { hash } from 'node:crypto';
import { type AssetDirectory, type Cache, createReadThrough } from '@decision/cache';
import {
  cacheKeys,
  checkFlowDefinition,
  type FlowDefinition,
  type FlowSettings,
  type FlowUse,
  ServiceError,
} from '@decision/contracts';
import { type FlowPlan } from '@decision/flows';
import { KeptByBytes } from '../kept-by-bytes';
import { compileStoredFlow, type RuleSources } from './compile-stored-flow';

/** A published version of a flow, ready to run with its current dependencies. */
export interface StoredFlow {
  /** Undefined: a rule in it is too large to be compiled in this thread, and no node reaches out: the flow must run in a thread. */
  readonly plan: FlowPlan | undefined;
  /** Why it cannot run: its current rules no longer fit it. A `flow_invalid` with its problems. */
  readonly fault: ServiceError | undefined;
  readonly reachesOut: boolean;
  readonly settings: FlowSettings;
  /** Identifies the version and the versions of everything that it runs; it changes when one of them does. */
  readonly effectiveVersion: string;
  /** The current versions of the slugs that it follows. */
  readonly follows: FollowedVersions;
}

/** Sources of the parts of flows. */
interface FlowSources extends RuleSources {
  /** The immutable definition of a published version; undefined if it was deleted and no flow uses it. */
  readonly loadDefinition: (workspaceId: string, versionId: string) => Promise<FlowDefinition | undefined>;
  /** Resolves uses to their current versions. */
  readonly directory: Pick<AssetDirectory, 'find' | 'resolve'>;
}

/** Versions by `<slug>/<selector>` of uses. */
export type FollowedVersions = Readonly<Record<string, string>>;

/**
 * Compiled flows by their version and the versions of all rules that they run now (docs/adr/0035-plans-are-keyed-by-what-they-run.md).
 * Numbered uses keep their version of the publication; `latest` and environments follow their slug, and fall back to the version of the
 * publication.
 */
export interface FlowLibrary {
  /**
   * Throws `version_not_found` if the workspace has no such version of the flow, or of something that it uses. `follows` fixes versions of
   * rules, by `<slug>/<selector>`; all others are resolved now.
   */
  get(workspaceId: string, versionId: string, follows?: FollowedVersions): Promise<StoredFlow>;
  /** As in {@link StoredFlow}; compiles nothing. */
  effectiveVersion(workspaceId: string, versionId: string): Promise<string>;
  /** Whether a caller restricted to groups sees everything that the flow and its subflows name. */
  isSeenWhole(workspaceId: string, versionId: string, userGroups: readonly string[]): Promise<boolean>;
  size(): number;
  /** Estimated bytes of all held compiled flows with their rules. */
  bytes(): number;
}

export interface FlowLibraryOptions {
  /** Maximum bytes of all compiled flows together, including rules; beyond it the least recently used are dropped, as with rules. */
  readonly maxBytes: number;
}

/** The immutable part of a version, without the assets that it follows. */
interface FlowShape {
  readonly settings: FlowSettings;
  readonly reachesOut: boolean;
  /** Uses that follow their slug, in the flow and its subflows. */
  readonly following: readonly FlowUse[];
  readonly uses: readonly FlowUse[];
  /** Cache keys of the definitions of the flow and its subflows. */
  readonly keys: ReadonlySet<string>;
}

interface PlanEntry {
  readonly flow: StoredFlow;
  /** Cache keys of all its definitions. */
  readonly keys: ReadonlySet<string>;
  readonly refreshes: readonly (() => Promise<void>)[];
}

/** Bytes of an entry besides its graphs and rules, per use, and per character of a graph in compiled form. */
const ENTRY_BYTES = 2_000;
const USE_BYTES = 500;
const BYTES_OF_CHARACTER = 4;
/** Of all shapes together. */
const SHAPE_BYTES = 64 * 1024 * 1024;

const VERSION_NUMBER = /^[1-9]\d{0,8}$/;

export const createFlowLibrary = (
  cache: Cache,
  sources: FlowSources,
  { maxBytes }: FlowLibraryOptions,
): FlowLibrary => {
  const plans = new KeptByBytes<PlanEntry>(maxBytes);
  const shapes = new KeptByBytes<FlowShape>(SHAPE_BYTES);
  const compiling = new Flights<PlanEntry>();
  const reading = new Flights<FlowShape>();
  const definitions = createReadThrough<FlowDefinition>(cache, {
    name: 'flow-definitions',
    // As with rules, this process keeps the compiled form.
    maxEntries: 1,
    localTtlMs: 1,
    sharedTtlMs: undefined,
    // A version never changes, so an old entry is as good as a new one.
    refreshAfterMs: Infinity,
    validate: checkFlowDefinition,
  });

  cache.invalidations.subscribe(({ kind, keys }) => {
    if (kind !== 'rule' && kind !== 'flow') return;
    const ofDefinitions = keys.filter((key) => key.startsWith(DEFINITION_PREFIX));
    if (ofDefinitions.length === 0) return;
    const isMeant = (entry: { readonly keys: ReadonlySet<string> }): boolean =>
      ofDefinitions.some((key) => entry.keys.has(key));
    plans.deleteWhere(isMeant);
    shapes.deleteWhere(isMeant);
  });

  const readDefinition = async (workspaceId: string, versionId: string): Promise<FlowDefinition> => {
    const key = cacheKeys.definition(workspaceId, versionId);
    const definition = await definitions.read(key, () => sources.loadDefinition(workspaceId, versionId));
    if (definition !== undefined) return definition;
    throw new ServiceError(
      'version_not_found',
      'The workspace has no such version of a flow; it may have been deleted while the request was on its way.',
    );
  };

  /** The definitions of a flow and its subflows, by their versions; subflows come before their users. */
  const readDefinitions = async (
    workspaceId: string,
    versionId: string,
    known = new Map<string, FlowDefinition>(),
  ): Promise<ReadonlyMap<string, FlowDefinition>> => {
    if (known.has(versionId)) return known;
    const definition = await readDefinition(workspaceId, versionId);
    for (const { kind, version_id: used } of definition.uses)
      if (kind === 'flow') await readDefinitions(workspaceId, used, known);
    return known.set(versionId, definition);
  };

  const shapeOf = async (workspaceId: string, versionId: string): Promise<FlowShape> => {
    const key = cacheKeys.definition(workspaceId, versionId);
    const known = shapes.get(key);
    if (known !== undefined) return known;
    return reading.fly(key, async () => {
      const all = await readDefinitions(workspaceId, versionId);
      const shape = makeShape(workspaceId, versionId, all);
      shapes.set(key, shape, ENTRY_BYTES + (shape.uses.length + all.size) * USE_BYTES);
      return shape;
    });
  };

  /** The current versions of the uses that follow their slug, in order. */
  const followed = async (
    workspaceId: string,
    { following }: FlowShape,
    given: FollowedVersions | undefined,
  ): Promise<readonly string[]> => {
    if (following.length === 0) return [];
    const versionOf = async (use: FlowUse): Promise<string> => {
      const name = `${use.slug}/${use.selector}`;
      if (given !== undefined) return (Object.hasOwn(given, name) ? given[name] : undefined) ?? use.version_id;
      return (await sources.directory.find(workspaceId, use)) ?? use.version_id;
    };
    return Promise.all(following.map(versionOf));
  };

  const compile = async (
    workspaceId: string,
    versionId: string,
    shape: FlowShape,
    versions: readonly string[],
  ): Promise<{ readonly entry: PlanEntry; readonly bytes: number }> => {
    const all = await readDefinitions(workspaceId, versionId);
    const meaning = new Map(shape.following.map((use, index) => [nameOf(use), versions[index] ?? use.version_id]));
    const { rules, plan } = await compileStoredFlow(sources, {
      ...{ workspaceId, versionId, definitions: all, reachesOut: shape.reachesOut },
      versionOf: (use) => meaning.get(nameOf(use)) ?? use.version_id,
    });
    const { reachesOut, settings } = shape;
    const effectiveVersion = effectiveVersionOf(versionId, versions);
    const [fault, runs] = plan instanceof ServiceError ? [plan, undefined] : [undefined, plan];
    const follows = followsOf(shape.following, versions);
    const flow = { plan: runs, fault, reachesOut, settings, effectiveVersion, follows };
    const held = [...rules.values()].flatMap((rule) => rule ?? []);
    const ruleKeys = [...rules.keys()].map((ruleVersion) => cacheKeys.definition(workspaceId, ruleVersion));
    return {
      entry: {
        flow,
        keys: new Set([...shape.keys, ...ruleKeys]),
        refreshes: held.flatMap(({ refresh }) => refresh ?? []),
      },
      bytes:
        ENTRY_BYTES +
        rules.size * USE_BYTES +
        [...all.values()].reduce((sum, definition) => sum + sizeOf(definition), 0) * BYTES_OF_CHARACTER +
        held.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  };

  return {
    get: async (workspaceId, versionId, follows) => {
      const shape = await shapeOf(workspaceId, versionId);
      const versions = await followed(workspaceId, shape, follows);
      const key = [workspaceId, versionId, ...versions].join(' ');
      const known = plans.get(key);
      const entry =
        known ??
        (await compiling.fly(key, async () => {
          const made = await compile(workspaceId, versionId, shape, versions);
          plans.set(key, made.entry, made.bytes);
          return made.entry;
        }));
      if (entry.refreshes.length > 0) await Promise.all(entry.refreshes.map((refresh) => refresh()));
      return entry.flow;
    },
    effectiveVersion: async (workspaceId, versionId) =>
      effectiveVersionOf(versionId, await followed(workspaceId, await shapeOf(workspaceId, versionId), undefined)),
    isSeenWhole: async (workspaceId, versionId, userGroups) => {
      const { uses } = await shapeOf(workspaceId, versionId);
      const seen = await Promise.all(uses.map((use) => isSeen(sources.directory, { workspaceId, userGroups }, use)));
      return seen.every(Boolean);
    },
    size: () => plans.size,
    bytes: () => plans.bytes,
  };
};

/** A numbered use is visible if its version still belongs to the slug. */
const isSeen = async (
  directory: Pick<AssetDirectory, 'resolve'>,
  viewer: { readonly workspaceId: string; readonly userGroups: readonly string[] },
  use: FlowUse,
): Promise<boolean> => {
  try {
    const { version_id: found } = await directory.resolve(viewer, use);
    return found === use.version_id || !VERSION_NUMBER.test(use.selector);
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
};

const DEFINITION_PREFIX = cacheKeys.definition('', '').split(':', 1)[0] + ':';

const makeShape = (
  workspaceId: string,
  versionId: string,
  definitions: ReadonlyMap<string, FlowDefinition>,
): FlowShape => {
  const uses = new Map([...definitions.values()].flatMap((one) => one.uses.map((use) => [nameOf(use), use] as const)));
  const own = definitions.get(versionId);
  return {
    settings: own?.settings ?? {},
    reachesOut: own?.reaches_out ?? false,
    // Subflows are numbered (FL-7).
    following: [...uses.values()].filter(({ kind, selector }) => kind === 'rule' && !VERSION_NUMBER.test(selector)),
    uses: [...uses.values()],
    keys: new Set([...definitions.keys()].map((one) => cacheKeys.definition(workspaceId, one))),
  };
};

/** Two flows may name the same asset and have been published at different times: their fallbacks distinguish them. */
const nameOf = ({ kind, slug, selector, version_id }: FlowUse): string =>
  JSON.stringify([kind, slug, selector, version_id]);

/** Uses that fell back to their publication are left out, since two flows may have fallen back to different versions of one slug. */
const followsOf = (following: readonly FlowUse[], versions: readonly string[]): FollowedVersions =>
  Object.fromEntries(
    following.flatMap((use, index) => {
      const version = versions[index];
      return version === undefined || version === use.version_id ? [] : [[`${use.slug}/${use.selector}`, version]];
    }),
  );

const effectiveVersionOf = (versionId: string, versions: readonly string[]): string =>
  versions.length === 0 ? versionId : `${versionId}+${hash('sha256', versions.join(' '), 'base64url').slice(0, 22)}`;

const sizeOf = ({ nodes, connections }: FlowDefinition): number => JSON.stringify([nodes, connections]).length;

/** Single flight: concurrent callers of a key share one piece of work. */
class Flights<T> {
  private readonly flying = new Map<string, Promise<T>>();

  fly(key: string, work: () => Promise<T>): Promise<T> {
    const flight = this.flying.get(key) ?? work().finally(() => this.flying.delete(key));
    this.flying.set(key, flight);
    return flight;
  }
}
