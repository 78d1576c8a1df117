import { bindingGroundOf, faultsOfBinding } from '@decision/contexts';
import { type RuleProblem } from '@decision/engine';
import {
  loadContextWorld,
  loadRuleInterface,
  type RuleDraft,
  type RuleInterface,
  type Transaction,
} from '@decision/persistence';

/** A fault of a rule as an asset of its context, in the form of other faults of a rule. */
export type BindingProblem = Pick<RuleProblem, 'message' | 'path' | 'column'> & { readonly code: 'unbindable' };

/**
 * What keeps a rule from being bound to the context that it names. A context that does not exist, or is not visible, says nothing: what a run
 * may write is decided again at the run. Inputs count only where `isComplete`, since a draft may begin without any.
 */
export const problemsOfBinding = async (
  transaction: Transaction,
  { context, requestSchema, responseSchema }: Pick<RuleDraft, 'context' | 'requestSchema' | 'responseSchema'>,
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
 * What keeps a published version from being bound to the context that its rule names, where that is not what a draft says: a version that the binding
 * pins, or one that is put back in service. A version that is not there says nothing, as a context does not.
 */
export const problemsOfBoundVersion = async (
  transaction: Transaction,
  context: unknown,
  versionId: string,
): Promise<readonly BindingProblem[]> => {
  const slug = slugOfContext(context);
  const fields = slug === undefined ? undefined : await loadRuleInterface(transaction, versionId);
  if (slug === undefined || fields === undefined) return [];
  return (await faultsOfFields(transaction, slug, fields)).map(({ output, message }) => ({
    ...{ code: 'unbindable', path: '/context/version', message: `In this version: ${sentenceOf(slug, message)}` },
    ...(output === undefined ? {} : { column: output }),
  }));
};

/** The number of the version that a binding pins; undefined where it follows the latest one or an environment. */
export const pinnedVersion = (context: unknown): number | undefined => {
  const selector = selectorOf(context);
  return /^[1-9]\d{0,8}$/.test(selector) ? Number(selector) : undefined;
};

/** Whether a binding follows the latest published version. */
export const followsLatest = (context: unknown): boolean => selectorOf(context) === 'latest';

/**
 * A key that is restricted to groups binds rules to contexts that it sees, and to no others: whether a context is hidden from it or not there yet looks the
 * same (C57, C128). What is bound already stays.
 */
export const problemsOfHiddenContext = async (
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

const sentenceOf = (slug: string, message: string): string => `It cannot be bound to the context "${slug}": ${message}`;

const faultsOfFields = async (
  transaction: Transaction,
  slug: string,
  { requestSchema, responseSchema }: RuleInterface,
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

/** What a binding means by version: `latest`, a number or an environment. */
const selectorOf = (context: unknown): string => {
  const version: unknown =
    typeof context === 'object' && context !== null && 'version' in context ? context.version : undefined;
  return typeof version === 'string' || typeof version === 'number' ? String(version) : 'latest';
};

/** The slug of the context that a draft names; undefined where it names none. */
const slugOfContext = (context: unknown): string | undefined => {
  const slug: unknown = typeof context === 'object' && context !== null && 'slug' in context ? context.slug : undefined;
  return typeof slug === 'string' ? slug : undefined;
};
