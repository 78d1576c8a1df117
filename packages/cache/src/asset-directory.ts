import {
  type AssetKind,
  cacheKeys,
  checkNumberedVersion,
  checkRulePointer,
  type ErrorCode,
  fixedLimits,
  type NumberedVersion,
  type RulePointer,
  ServiceError,
  type VersionTarget,
} from '@decision/contracts';
import { type Cache } from './cache';
import { createReadThrough, type ReadThrough } from './read-through/read-through';

/** Reads from the database what a slug of a kind refers to; undefined if there is no such asset. */
export interface AssetSource {
  findPointer(workspaceId: string, kind: AssetKind, slug: string): Promise<RulePointer | undefined>;
  findNumberedVersion(workspaceId: string, assetId: string, number: number): Promise<NumberedVersion | undefined>;
}

/** The part of an identity that decides what is visible. */
interface AssetViewer {
  readonly workspaceId: string;
  /** Undefined: not restricted to groups. */
  readonly userGroups: readonly string[] | undefined;
}

/** Reference to a version of an asset, as requests and flows write it. */
export interface AssetReference {
  readonly kind: AssetKind;
  readonly slug: string;
  /** `latest`, a version number, or the slug of an environment. */
  readonly selector: string;
}

/** Resolves a slug and a selector to the immutable version that they refer to now: docs/adr/0005-pointers-and-versions.md. */
export interface AssetDirectory {
  /**
   * The version, the id of its asset and, for a flow, whether it reaches out. Throws `rule_not_found` or `flow_not_found` (also for an
   * asset that the viewer may not see), `rule_not_published` or `flow_not_published`, `version_not_found` and `environment_not_found`.
   */
  resolve(viewer: AssetViewer, reference: AssetReference): Promise<ResolvedVersion>;
  /**
   * The version that {@link resolve} would answer, if this process knows it without asking; undefined otherwise, and if the viewer must be
   * refused.
   */
  peek(viewer: AssetViewer, reference: AssetReference): ResolvedVersion | undefined;
  /**
   * The id of the version, without checking who may see it; undefined if the reference resolves to none. Rejects only as the source does.
   */
  find(workspaceId: string, reference: AssetReference): Promise<string | undefined>;
}

/** A version with the id of its asset. */
interface ResolvedVersion extends NumberedVersion {
  readonly asset_id: string;
}

const MAX_POINTERS = 100_000;
const MAX_NUMBERED = 100_000;
const VERSION_NUMBER = /^[1-9]\d{0,8}$/;

const NOT_FOUND: Readonly<Record<AssetKind, ErrorCode>> = { rule: 'rule_not_found', flow: 'flow_not_found' };
const NOT_PUBLISHED: Readonly<Record<AssetKind, ErrorCode>> = {
  rule: 'rule_not_published',
  flow: 'flow_not_published',
};

/** `clock` answers ms since the epoch. Default: the clock of the process. */
export const createAssetDirectory = (cache: Cache, source: AssetSource, clock?: () => number): AssetDirectory => {
  const shared = {
    // A version number never refers to another version, but it disappears with its asset, even if no announcement arrives.
    localTtlMs: fixedLimits.pointerLocalTtlMs,
    sharedTtlMs: undefined,
    ...(clock === undefined ? {} : { clock }),
  };
  const openPointers = (name: string): ReadThrough<RulePointer> =>
    createReadThrough<RulePointer>(cache, { ...shared, name, maxEntries: MAX_POINTERS, validate: checkRulePointer });
  const pointers = { rule: openPointers('rule-pointers'), flow: openPointers('flow-pointers') };
  const numbered = createReadThrough<NumberedVersion>(cache, {
    ...{ ...shared, name: 'numbered-versions', maxEntries: MAX_NUMBERED, validate: checkNumberedVersion },
  });

  const keyOf = (workspaceId: string, { kind, slug }: AssetReference): string =>
    kind === 'rule' ? cacheKeys.rulePointer(workspaceId, slug) : cacheKeys.flowPointer(workspaceId, slug);
  const readPointer = (workspaceId: string, reference: AssetReference): Promise<RulePointer | undefined> => {
    const { kind, slug } = reference;
    return pointers[kind].read(keyOf(workspaceId, reference), () => source.findPointer(workspaceId, kind, slug));
  };
  const readNumber = (
    workspaceId: string,
    { rule_id: assetId }: RulePointer,
    number: number,
  ): Promise<NumberedVersion | undefined> =>
    numbered.read(cacheKeys.numberedVersion(assetId, number), () =>
      source.findNumberedVersion(workspaceId, assetId, number),
    );

  const peekVersion = (pointer: PublishedPointer, selector: string): NumberedVersion | undefined => {
    if (selector === 'latest') return pointer.latest;
    if (!VERSION_NUMBER.test(selector)) return pinOf(pointer, selector);
    return numbered.peek(cacheKeys.numberedVersion(pointer.rule_id, Number(selector)));
  };

  return {
    resolve: async (viewer, reference) => {
      const pointer = publishedPointer(await readPointer(viewer.workspaceId, reference), viewer, reference);
      const { selector } = reference;
      const found = (version: NumberedVersion) => ({ ...version, asset_id: pointer.rule_id });
      if (selector === 'latest') return found(pointer.latest);
      if (!VERSION_NUMBER.test(selector)) return found(pinOf(pointer, selector) ?? refuseEnvironment(reference));
      const version = await readNumber(viewer.workspaceId, pointer, Number(selector));
      return found(version ?? refuseNumber(reference, pointer.latest));
    },
    peek: (viewer, reference) => {
      const pointer = pointers[reference.kind].peek(keyOf(viewer.workspaceId, reference));
      if (pointer === undefined || !isVisible(pointer, viewer) || !isPublished(pointer)) return undefined;
      const version = peekVersion(pointer, reference.selector);
      if (version === undefined) return undefined;
      return { version_id: version.version_id, reaches_out: version.reaches_out, asset_id: pointer.rule_id };
    },
    find: async (workspaceId, reference) => {
      const pointer = await readPointer(workspaceId, reference);
      if (pointer === undefined || pointer.latest === null) return undefined;
      const { selector } = reference;
      if (selector === 'latest') return pointer.latest.version_id;
      if (!VERSION_NUMBER.test(selector)) return pinOf(pointer, selector)?.version_id;
      return (await readNumber(workspaceId, pointer, Number(selector)))?.version_id;
    },
  };
};

/** A pointer to an asset that is published. */
type PublishedPointer = RulePointer & { readonly latest: VersionTarget };

const isPublished = (pointer: RulePointer): pointer is PublishedPointer => pointer.latest !== null;

const publishedPointer = (
  pointer: RulePointer | undefined,
  viewer: AssetViewer,
  { kind, slug }: AssetReference,
): PublishedPointer => {
  if (pointer === undefined || !isVisible(pointer, viewer)) {
    throw new ServiceError(NOT_FOUND[kind], `No ${kind} with the slug "${slug}" is visible to this key.`, { slug });
  }
  if (isPublished(pointer)) return pointer;
  const sentence = `The ${kind} "${slug}" has no published version; publish it before solving it.`;
  throw new ServiceError(NOT_PUBLISHED[kind], sentence, { slug });
};

/** A key that is restricted to groups sees only what shares a group with it. */
const isVisible = (pointer: RulePointer, { userGroups }: AssetViewer): boolean =>
  userGroups === undefined || pointer.user_groups.some((group) => userGroups.includes(group));

/**
 * The pins are part of the slug's pointer, so they share its entry and its invalidation. Without an invalidation they are at most 15
 * seconds old. See docs/adr/0012-the-live-release-is-the-pin.md.
 */
const pinOf = ({ pins }: RulePointer, environment: string): VersionTarget | undefined =>
  Object.hasOwn(pins, environment) ? pins[environment] : undefined;

const refuseNumber = ({ kind, slug, selector }: AssetReference, { version: latest }: VersionTarget): never => {
  const sentence = `The ${kind} "${slug}" has no version ${selector}; the latest is ${latest}.`;
  throw new ServiceError('version_not_found', sentence, { slug, version: Number(selector), latest });
};

const refuseEnvironment = ({ kind, slug, selector }: AssetReference): never => {
  throw new ServiceError(
    'environment_not_found',
    `Nothing of the ${kind} "${slug}" is live in an environment "${selector}"; a selector is "latest", a version number or an environment's slug.`,
    { slug, selector },
  );
};
