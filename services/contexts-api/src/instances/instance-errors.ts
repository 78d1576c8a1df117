import { type Mismatch, sentenceOf } from '@decision/contexts';
import { ServiceError } from '@decision/contracts';

/** A text of a client, shortened for an answer. */
export const shown = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}...` : text);

export const instanceNotFound = (slug: string, instanceId: string): ServiceError =>
  new ServiceError('instance_not_found', `The context "${slug}" has no instance "${shown(instanceId)}".`, {
    context: slug,
  });

export const factsInvalid = (
  mismatches: readonly Pick<Mismatch, 'fact' | 'error'>[],
  count: number = mismatches.length,
): ServiceError =>
  new ServiceError('facts_invalid', sentenceOf(mismatches, count), {
    facts: mismatches.map(({ fact, error }) => ({ fact: shown(fact), error })),
  });

/** An error that says what of the request is committed (batch rule 10), and of what that is not known. */
export const withFates = (
  error: ServiceError,
  { committed, unknown }: { readonly committed: ReadonlySet<string>; readonly unknown?: ReadonlySet<string> },
): ServiceError =>
  new ServiceError(
    error.code,
    error.message,
    {
      ...error.details,
      ...{ committed_count: committed.size, committed_instance_ids: [...committed] },
      ...(unknown === undefined || unknown.size === 0 ? {} : { unknown_instance_ids: [...unknown] }),
    },
    { cause: error.cause },
  );
