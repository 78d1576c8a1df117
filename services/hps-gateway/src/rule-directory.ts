import { type Cache, createReadThrough, type ReadThrough } from '@decision/cache';
import {
  cacheKeys,
  checkNumberedVersion,
  checkRulePointer,
  fixedLimits,
  type NumberedVersion,
  type RulePointer,
  ServiceError,
  type VersionTarget,
} from '@decision/contracts';

/** Reads from the database what a slug means; undefined where there is nothing. */
export interface RuleSource {
  findPointer(workspaceId: string, slug: string): Promise<RulePointer | undefined>;
  findNumberedVersion(workspaceId: string, ruleId: string, number: number): Promise<NumberedVersion | undefined>;
}

/** The part of an identity that decides what is visible. */
export interface Viewer {
  readonly workspaceId: string;
  /** Undefined: not restricted to groups. */
  readonly userGroups: readonly string[] | undefined;
}

/** Finds the immutable version that a slug and a selector mean now: docs/adr/0005-pointers-and-versions.md. */
export interface RuleDirectory {
  /**
   * Answers the id of a version. Throws `rule_not_found` (also for a rule that the viewer may not see), `rule_not_published`,
   * `version_not_found` or `environment_not_found`.
   */
  resolve(viewer: Viewer, slug: string, selector: string): Promise<string>;
}

const MAX_POINTERS = 100_000;
const MAX_NUMBERED = 100_000;
const VERSION_NUMBER = /^[1-9]\d{0,8}$/;

/** `clock` answers ms since the epoch; the process's own where it is not given. */
export const createRuleDirectory = (cache: Cache, source: RuleSource, clock?: () => number): RuleDirectory => {
  const pointers = createReadThrough<RulePointer>(cache, {
    name: 'rule-pointers',
    maxEntries: MAX_POINTERS,
    localTtlMs: fixedLimits.pointerLocalTtlMs,
    sharedTtlMs: undefined,
    validate: checkRulePointer,
    ...(clock === undefined ? {} : { clock }),
  });
  const numbered = createReadThrough<NumberedVersion>(cache, {
    name: 'numbered-versions',
    maxEntries: MAX_NUMBERED,
    // A number never means another version, but it is gone with its rule, also where no announcement arrives.
    localTtlMs: fixedLimits.pointerLocalTtlMs,
    sharedTtlMs: undefined,
    validate: checkNumberedVersion,
    ...(clock === undefined ? {} : { clock }),
  });
  return {
    resolve: async (viewer, slug, selector) => {
      const key = cacheKeys.rulePointer(viewer.workspaceId, slug);
      const pointer = await pointers.read(key, () => source.findPointer(viewer.workspaceId, slug));
      const { latest, pins, rule_id: ruleId } = publishedPointer(pointer, viewer, slug);
      if (selector === 'latest') return latest.version_id;
      if (!VERSION_NUMBER.test(selector)) return pinnedVersion(pins, slug, selector);
      return resolveNumber(numbered, source, {
        workspaceId: viewer.workspaceId,
        ruleId,
        slug,
        number: Number(selector),
        latest: latest.version,
      });
    },
  };
};

/** A pointer to a rule that is published. */
type PublishedPointer = RulePointer & { readonly latest: VersionTarget };

const publishedPointer = (pointer: RulePointer | undefined, viewer: Viewer, slug: string): PublishedPointer => {
  if (pointer === undefined || !isVisible(pointer, viewer)) {
    throw new ServiceError('rule_not_found', `No rule with the slug "${slug}" is visible to this key.`, { slug });
  }
  const { latest } = pointer;
  if (latest === null) {
    throw new ServiceError(
      'rule_not_published',
      `The rule "${slug}" has no published version; publish it before solving it.`,
      { slug },
    );
  }
  return { ...pointer, latest };
};

/** A key that is restricted to groups sees only what shares a group with it. */
const isVisible = (pointer: RulePointer, { userGroups }: Viewer): boolean =>
  userGroups === undefined || pointer.user_groups.some((group) => userGroups.includes(group));

interface NumberedRequest {
  readonly workspaceId: string;
  readonly ruleId: string;
  readonly slug: string;
  readonly number: number;
  readonly latest: number;
}

const resolveNumber = async (
  numbered: ReadThrough<NumberedVersion>,
  source: RuleSource,
  request: NumberedRequest,
): Promise<string> => {
  const { workspaceId, ruleId, number, slug, latest } = request;
  const version = await numbered.read(cacheKeys.numberedVersion(ruleId, number), () =>
    source.findNumberedVersion(workspaceId, ruleId, number),
  );
  if (version !== undefined) return version.version_id;
  throw new ServiceError('version_not_found', `The rule "${slug}" has no version ${number}; the latest is ${latest}.`, {
    slug,
    version: number,
    latest,
  });
};

/**
 * The pins are part of the pointer of the slug: one entry, one invalidation, and at most 15 seconds without one. See
 * docs/adr/0012-the-live-release-is-the-pin.md.
 */
const pinnedVersion = (pins: RulePointer['pins'], slug: string, environment: string): string => {
  const pin = Object.hasOwn(pins, environment) ? pins[environment] : undefined;
  if (pin === undefined) throw unknownEnvironment(slug, environment);
  return pin.version_id;
};

const unknownEnvironment = (slug: string, selector: string): ServiceError =>
  new ServiceError(
    'environment_not_found',
    `Nothing of the rule "${slug}" is live in an environment "${selector}"; a selector is "latest", a version number or an environment's slug.`,
    { slug, selector },
  );
