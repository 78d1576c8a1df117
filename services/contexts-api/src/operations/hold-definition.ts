import { checkRecord, sameValue } from '@decision/contexts';
import { ServiceError } from '@decision/contracts';
import { holdContext, type Transaction } from '@decision/persistence';
import { type ContextDirectory, type ContextInUse, contextNotFound } from '../definitions/context-directory';
import { loadContextCollections, toCollections } from './surroundings';
import { type GivenFacts, type Work } from './work';

/** The definition of a context is another than the one that work on its instances began with. */
export class DefinitionChanged extends ServiceError {
  constructor(
    /** As it is now. */
    readonly context: ContextInUse,
  ) {
    super(
      'context_changed',
      `The definition of the context "${context.slug}" changed while the request was under way; send it again.`,
      { context: context.slug },
    );
  }
}

/**
 * Holds the definition of a context until the transaction ends and answers it as it is now (C153): what the work began with may be out of date. Throws
 * `context_not_found` where the context is gone.
 */
export const holdDefinition = async (
  transaction: Transaction,
  directory: ContextDirectory,
  { context, origin }: Pick<Work, 'context' | 'origin'>,
): Promise<ContextInUse> => {
  const revision = await holdContext(transaction, context.id);
  if (revision === undefined) throw contextNotFound(context.slug);
  if (String(revision) === context.revision) return context;
  const inForce = await directory.openById(transaction, origin.access.workspaceId, context.id);
  if (inForce === undefined) throw contextNotFound(context.slug);
  return inForce;
};

/** Whether two states of a context allow and compute the same facts of its own. */
export const hasSameFacts = (one: ContextInUse, other: ContextInUse): boolean => {
  const [a, b] = [one.model.definition, other.model.definition];
  return (
    one === other ||
    (a.identityFact === b.identityFact && a.onSchemaMismatch === b.onSchemaMismatch && sameValue(a.schema, b.schema))
  );
};

/** Throws {@link DefinitionChanged} where facts that were checked before do not fit the context as it is now. */
export const requireStillFit = async (
  transaction: Transaction,
  context: ContextInUse,
  given: readonly GivenFacts[],
): Promise<void> => {
  const collections = toCollections(await loadContextCollections(transaction, context));
  const fits = ({ facts }: GivenFacts): boolean => {
    const check = checkRecord(context.model, facts, collections);
    return check.ok && check.ignoredCount === 0;
  };
  if (!given.every(fits)) throw new DefinitionChanged(context);
};
