import { bindingGroundOf, faultsOfBinding } from '@decision/contexts';
import { type RuleProblem } from '@decision/engine';
import { loadContextWorld, type RuleDraft, type Transaction } from '@decision/persistence';

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
  const { contexts, relationships } = await loadContextWorld(transaction);
  const found = contexts.find((known) => known.slug === slug);
  if (found === undefined) return [];
  const own = relationships.filter(({ fromContextId }) => fromContextId === found.id);
  const ground = bindingGroundOf(
    found,
    own.map(({ name }) => name),
  );
  const faults = faultsOfBinding(ground, {
    type: 'rule',
    slug: '',
    effectiveVersion: '',
    inputs: requestSchema.map(({ key }) => ({ key, hasDefault: false })),
    outputs: responseSchema.map(({ key }) => key),
  });
  return faults
    .filter(({ output }) => output !== undefined || isComplete)
    .map(({ output, message }): BindingProblem => {
      const sentence = `It cannot be bound to the context "${slug}": ${message}`;
      if (output === undefined) return { code: 'unbindable', path: '/requestSchema', message: sentence };
      const index = responseSchema.findIndex(({ key }) => key === output);
      return { code: 'unbindable', path: `/responseSchema/${index}`, column: output, message: sentence };
    });
};

/** The slug of the context that a draft names; undefined where it names none. */
const slugOfContext = (context: unknown): string | undefined => {
  const slug: unknown = typeof context === 'object' && context !== null && 'slug' in context ? context.slug : undefined;
  return typeof slug === 'string' ? slug : undefined;
};
