import { bindingGroundOf, faultsOfBinding, relationsRead } from '@decision/contexts';
import { type RuleProblem } from '@decision/engine';
import {
  findInputKeys,
  findNumberedVersion,
  listEnvironments,
  loadContextWorld,
  loadAssetInterface,
  type Transaction,
} from '@decision/persistence';

/** A fault in the binding of a rule or flow to its context, in the form of other faults of a rule. */
export type BindingProblem = Pick<RuleProblem, 'message' | 'path' | 'column'> & { readonly code: 'unbindable' };

interface Field {
  readonly key: string;
}

/** The parts of a rule or flow that matter to a binding: the context that it names, its inputs and its outputs. */
interface BindableDraft {
  /** `{slug, version}`; anything else names no context. */
  readonly context: unknown;
  readonly requestSchema: readonly Field[];
  readonly responseSchema: readonly Field[];
}

interface BindingToCheck {
  readonly draft: BindableDraft;
  /** The stored state; undefined if the asset is new. */
  readonly before: (Pick<BindableDraft, 'context' | 'requestSchema'> & { readonly id: string }) | undefined;
  /** Whether the key is restricted to groups. */
  readonly isRestricted: boolean;
  /** Whether the draft is to be published: it may begin without inputs. */
  readonly isComplete: boolean;
}

/**
 * Reasons why a draft of a rule or flow, or the version that its binding pins, cannot be bound to the context that it names (C57): the first
 * kind of faults that occurs.
 */
export const problemsOfDraft = async (
  transaction: Transaction,
  { draft, before, isRestricted, isComplete }: BindingToCheck,
): Promise<readonly BindingProblem[]> => {
  const { context } = draft;
  const checks: (() => readonly BindingProblem[] | Promise<readonly BindingProblem[]>)[] = [
    () => problemsOfContextName(context),
    () => problemsOfHiddenContext(transaction, { context, before: before?.context, isRestricted }),
    () => (context === before?.context ? [] : problemsOfEnvironment(transaction, context)),
    () => problemsOfBinding(transaction, draft, isComplete),
    () => (isRestricted ? problemsOfHiddenRelations(transaction, draft, before) : []),
    () => problemsOfPinnedVersion(transaction, context, before?.id),
  ];
  for (const check of checks) {
    const problems = await check();
    if (problems.length > 0) return problems;
  }
  return [];
};

const problemsOfPinnedVersion = async (
  transaction: Transaction,
  context: unknown,
  id: string | undefined,
): Promise<readonly BindingProblem[]> => {
  const pinned = pinnedVersion(context);
  const version =
    id === undefined || pinned === undefined ? undefined : await findNumberedVersion(transaction, id, pinned);
  return version === undefined ? [] : problemsOfBoundVersion(transaction, context, version.version_id);
};

/**
 * Reasons why a rule or flow cannot be bound to the context that it names. A context that does not exist, or is not visible, causes none: each
 * run checks again what it may write. Inputs count only if `isComplete`, since a draft may begin without any.
 */
const problemsOfBinding = async (
  transaction: Transaction,
  { context, requestSchema, responseSchema }: BindableDraft,
  isComplete: boolean,
): Promise<readonly BindingProblem[]> => {
  const slug = slugOfContext(context);
  if (slug === undefined) return [];
  const fields = { requestSchema, responseSchema };
  return (await faultsOfFields(transaction, slug, fields))
    .filter(({ output }) => output !== undefined || isComplete)
    .map(({ output, message }): BindingProblem => {
      const sentence = sentenceOf(slug, message);
      if (output === undefined) return { code: 'unbindable', path: '/requestSchema', message: sentence };
      const index = responseSchema.findIndex(({ key }) => key === output);
      return { code: 'unbindable', path: `/responseSchema/${index}`, column: output, message: sentence };
    });
};

/**
 * Reasons why a published version cannot be bound to the context that its asset names, apart from those of a draft: a version that the binding
 * pins, or one that is put back in service. A missing version causes none, like a missing context.
 */
export const problemsOfBoundVersion = async (
  transaction: Transaction,
  context: unknown,
  versionId: string,
): Promise<readonly BindingProblem[]> => {
  const slug = slugOfContext(context);
  const fields = slug === undefined ? undefined : await loadAssetInterface(transaction, versionId);
  if (slug === undefined || fields === undefined) return [];
  return (await faultsOfFields(transaction, slug, fields)).map(({ output, message }) => ({
    ...{ code: 'unbindable', path: '/context/version', message: `In this version: ${sentenceOf(slug, message)}` },
    ...(output === undefined ? {} : { column: output }),
  }));
};

/** The number of the version that a binding pins; undefined if it follows the latest one or an environment. */
const pinnedVersion = (context: unknown): number | undefined => {
  const selector = selectorOf(context);
  return /^[1-9]\d{0,8}$/.test(selector) ? Number(selector) : undefined;
};

/** Reports a binding that follows an environment which the workspace does not have: nothing would ever run. */
const problemsOfEnvironment = async (
  transaction: Transaction,
  context: unknown,
): Promise<readonly BindingProblem[]> => {
  const selector = selectorOf(context);
  if (selector === 'latest' || pinnedVersion(context) !== undefined) return [];
  const slugs = (await listEnvironments(transaction)).map(({ slug }) => slug);
  if (slugs.includes(selector)) return [];
  const known = ['latest', ...slugs].map((name) => JSON.stringify(name)).join(', ');
  const message = `There is no environment ${JSON.stringify(selector)}: the version of a binding is a number or one of ${known}.`;
  return [{ code: 'unbindable', path: '/context/version', message }];
};

/** Whether a binding follows the latest published version. */
export const followsLatest = (context: unknown): boolean => selectorOf(context) === 'latest';

/**
 * A key that is restricted to groups binds rules only to contexts that it sees: a hidden context and a missing one look the same (C57, C128).
 * Existing bindings stay.
 */
const problemsOfHiddenContext = async (
  transaction: Transaction,
  {
    context,
    before,
    isRestricted,
  }: { readonly context: unknown; readonly before: unknown; readonly isRestricted: boolean },
): Promise<readonly BindingProblem[]> => {
  const slug = slugOfContext(context);
  if (!isRestricted || slug === undefined || slug === slugOfContext(before)) return [];
  const { contexts } = await loadContextWorld(transaction);
  if (contexts.some((known) => known.slug === slug)) return [];
  const message = sentenceOf(slug, 'No such context is visible to this key.');
  return [{ code: 'unbindable', path: '/context', message }];
};

/** Problems of a draft's `context` that is not a valid binding (V4): `->>` would turn it into a slug that no check sees. */
const problemsOfContextName = (context: unknown): readonly BindingProblem[] => {
  const slug: unknown = typeof context === 'object' && context !== null && 'slug' in context ? context.slug : null;
  if (slug === null || typeof slug === 'string') return [];
  const message = 'The slug of its context must be a string, such as {"context": {"slug": "orders"}}.';
  return [{ code: 'unbindable', path: '/context/slug', message }];
};

/**
 * Inputs that would let a rule read relationships that a restricted key does not see (V6). Those that the rule already read under the same
 * binding may stay; when it is bound anew, its versions count like its draft, since each may come into service.
 */
const problemsOfHiddenRelations = async (
  transaction: Transaction,
  { context, requestSchema }: BindableDraft,
  before: BindingToCheck['before'],
): Promise<readonly BindingProblem[]> => {
  const slug = slugOfContext(context);
  if (slug === undefined) return [];
  const isBoundAnew = slug !== slugOfContext(before?.context);
  const inVersions = before === undefined ? [] : await findInputKeys(transaction, before.id, '$relations.');
  const kept = new Set(isBoundAnew ? [] : relationsIn([...keysOf(before?.requestSchema ?? []), ...inVersions]));
  const read = relationsIn([...keysOf(requestSchema), ...(isBoundAnew ? inVersions : [])]);
  const named = read.filter((name) => !kept.has(name));
  if (named.length === 0) return [];
  const { contexts, relationships } = await loadContextWorld(transaction);
  const found = contexts.find((known) => known.slug === slug);
  const seen = new Set(
    relationships.filter(({ fromContextId }) => fromContextId === found?.id).map(({ name }) => name),
  );
  return named
    .filter((name) => !seen.has(name))
    .map((name) => {
      const index = keysOf(requestSchema).findIndex((key) => relationsIn([key])[0] === name);
      const message = sentenceOf(slug, `No relationship "${name}" of it is visible to this key.`);
      return { code: 'unbindable', path: index < 0 ? '/context' : `/requestSchema/${index}`, message };
    });
};

const keysOf = (fields: readonly Field[]): readonly string[] => fields.map(({ key }) => key);

/** Names of the relationships that inputs with these keys read. */
const relationsIn = (keys: readonly string[]): readonly string[] =>
  relationsRead({
    ...{ type: 'rule', slug: '', effectiveVersion: '', outputs: [] },
    inputs: keys.map((key) => ({ key, hasDefault: false })),
  });

const sentenceOf = (slug: string, message: string): string => `It cannot be bound to the context "${slug}": ${message}`;

const faultsOfFields = async (
  transaction: Transaction,
  slug: string,
  { requestSchema, responseSchema }: Omit<BindableDraft, 'context'>,
): Promise<ReturnType<typeof faultsOfBinding>> => {
  const { contexts, relationships } = await loadContextWorld(transaction);
  const found = contexts.find((known) => known.slug === slug);
  if (found === undefined) return [];
  const own = relationships.filter(({ fromContextId }) => fromContextId === found.id);
  const ground = bindingGroundOf(
    found,
    own.map(({ name }) => name),
  );
  return faultsOfBinding(ground, {
    type: 'rule',
    slug: '',
    effectiveVersion: '',
    inputs: requestSchema.map(({ key }) => ({ key, hasDefault: false })),
    outputs: responseSchema.map(({ key }) => key),
  });
};

/** Selector of a binding's version: `latest`, a number or an environment. */
const selectorOf = (context: unknown): string => {
  const version: unknown =
    typeof context === 'object' && context !== null && 'version' in context ? context.version : undefined;
  return typeof version === 'string' || typeof version === 'number' ? String(version) : 'latest';
};

/** The slug of the context that a draft names; undefined if it names none. */
const slugOfContext = (context: unknown): string | undefined => {
  const slug: unknown = typeof context === 'object' && context !== null && 'slug' in context ? context.slug : undefined;
  return typeof slug === 'string' ? slug : undefined;
};
