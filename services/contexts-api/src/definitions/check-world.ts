import { compileContext, type ContextModel, type ContextProblem, type ContextWorld } from '@decision/contexts';
import { ServiceError } from '@decision/contracts';

const toInvalid = (slug: string, problems: readonly ContextProblem[]): ServiceError =>
  new ServiceError(
    'context_invalid',
    `The context "${slug}" cannot be saved like this: ${problems[0]?.message ?? ''}${problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''}`,
    {
      problems: problems.map(({ code, path, message, formula }) => ({
        ...{ code, path, message },
        ...(formula === undefined ? {} : { formula }),
      })),
    },
  );

/**
 * The model of a context in the world as it is to be. The contexts that are related to it directly are checked too, since they may read what
 * changes. Throws `context_invalid` that lists every problem.
 */
export const requireValid = (contextId: string, world: ContextWorld): ContextModel => {
  const definition = world.contexts.get(contextId);
  if (definition === undefined) throw new ServiceError('internal_error', 'The context to check is not in its world.');
  const compilation = compileContext(definition, world);
  if (!compilation.ok) throw toInvalid(definition.slug, compilation.problems);
  const readers = new Set(
    world.relationships
      .filter(({ toContextId }) => toContextId === contextId)
      .map(({ fromContextId }) => fromContextId),
  );
  for (const reader of readers) {
    const other = world.contexts.get(reader);
    const checked = other && reader !== contextId ? compileContext(other, world) : undefined;
    if (other !== undefined && checked?.ok === false) throw toInvalid(other.slug, checked.problems);
  }
  return compilation.model;
};
