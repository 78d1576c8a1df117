import { isDeepStrictEqual } from 'node:util';
import { checkRecord, sameValue } from '@decision/contexts';
import { ServiceError } from '@decision/contracts';
import {
  type ContextInForce,
  findContextInForce,
  holdContext,
  together,
  type Transaction,
} from '@decision/persistence';
import { type ContextDirectory, type ContextInUse, contextNotFound } from '../definitions/context-directory';
import { ContextOutdated } from '../definitions/recall-context';
import { findGivenMembers } from './surroundings';
import { type GivenFacts, type Work } from './work';

/** The definition of a context has changed since the work on its instances started. */
export class DefinitionChanged extends ServiceError {
  constructor(
    /** The current context. */
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
 * Holds the definition of a context until the transaction ends and answers the current one (C153, ADR 22): the work may have started with
 * an older one. Throws `context_not_found` if the context no longer exists, and `ContextOutdated` if a recalled one is no longer in force.
 */
export const holdDefinition = async (
  transaction: Transaction,
  directory: ContextDirectory,
  { context, origin }: Pick<Work, 'context' | 'origin'>,
): Promise<ContextInUse> => {
  if (context.recalled !== undefined) return holdRecalled(transaction, context, context.recalled);
  const revision = await holdContext(transaction, context.id);
  if (revision === undefined) throw contextNotFound(context.slug);
  if (String(revision) === context.revision) return context;
  const inForce = await directory.openById(transaction, origin.access.workspaceId, context.id);
  if (inForce === undefined) throw contextNotFound(context.slug);
  return inForce;
};

const holdRecalled = async (
  transaction: Transaction,
  context: ContextInUse,
  recalled: ContextInForce,
): Promise<ContextInUse> => {
  // Held first, so that the context found next stays in force.
  const [revision, inForce] = await together(
    holdContext(transaction, context.id),
    findContextInForce(transaction, { id: context.id }),
  );
  if (revision !== undefined && isDeepStrictEqual(inForce, recalled)) return { ...context, recalled: undefined };
  throw new ContextOutdated('The context was changed since this process read it.');
};

/** Whether two states of a context allow and compute the same own facts. */
export const hasSameFacts = (one: ContextInUse, other: ContextInUse): boolean => {
  const [a, b] = [one.model.definition, other.model.definition];
  return (
    one === other ||
    (a.identityFact === b.identityFact && a.onSchemaMismatch === b.onSchemaMismatch && sameValue(a.schema, b.schema))
  );
};

/** Throws {@link DefinitionChanged} if facts that were checked before do not fit the current context. */
export const requireStillFit = async (
  transaction: Transaction,
  context: ContextInUse,
  given: readonly GivenFacts[],
): Promise<void> => {
  const facts = given.map((instance) => instance.facts);
  const collections = await findGivenMembers(transaction, context, facts);
  const fits = ({ facts }: GivenFacts): boolean => {
    const check = checkRecord(context.model, facts, collections);
    return check.ok && check.ignoredCount === 0;
  };
  if (!given.every(fits)) throw new DefinitionChanged(context);
};
