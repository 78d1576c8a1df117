import { compileContext, type ContextModel, type ContextProblem, type ContextWorld } from '@decision/contexts';
import { type ContextSchema, ServiceError } from '@decision/contracts';
import { toWorld } from '@decision/operations';
import { asWorkspace, loadContextWorld, type Transaction, type WorkspaceAccess } from '@decision/persistence';

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
 * The model of a context in the world after the change. Directly related contexts are checked too, since they may read what changes. Throws
 * `context_invalid` that lists every problem.
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

/** All definitions of a workspace, and those that a definer sees. The same object if the definer sees everything. */
export interface SeenWorld {
  readonly whole: ContextWorld;
  readonly visible: ContextWorld;
}

export const loadSeenWorld = async (
  transaction: Transaction,
  { userGroups }: Pick<WorkspaceAccess, 'userGroups'>,
): Promise<SeenWorld> => {
  const visible = toWorld(await loadContextWorld(transaction));
  if (userGroups === undefined) return { whole: visible, visible };
  return { whole: toWorld(await asWorkspace(transaction, () => loadContextWorld(transaction))), visible };
};

/** Both worlds after a change within the definer's view. */
export const changeSeenWorld = (
  { whole, visible }: SeenWorld,
  change: (world: ContextWorld) => ContextWorld,
): SeenWorld => {
  const changed = change(whole);
  return { whole: changed, visible: visible === whole ? changed : change(visible) };
};

/**
 * The model of a context in the worlds after the change. Its new parts read only what the definer sees (V7); `kept` are positions of formulas
 * that existed before. A problem that occurs only in the whole world is reported without its subject (V12). Throws `context_invalid`.
 */
export const requireSavable = (
  contextId: string,
  { whole, visible }: SeenWorld,
  kept: ReadonlySet<string>,
): ContextModel => {
  const definition = visible.contexts.get(contextId);
  if (whole === visible || definition === undefined) return requireValid(contextId, whole);
  const seen = compileContext(definition, visible);
  const added = seen.ok ? [] : seen.problems.filter(({ path }) => !kept.has(path));
  if (added.length > 0) throw toInvalid(definition.slug, added);
  try {
    return requireValid(contextId, whole);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'context_invalid') throw error;
    throw toInvalid(definition.slug, [HIDDEN_PROBLEM]);
  }
};

const HIDDEN_PROBLEM: ContextProblem = {
  code: 'formula_invalid',
  path: '',
  message: 'Something that this key does not see is related to the context and could not be evaluated then.',
};

/** Positions of the formulas of a schema that another schema has under the same name. */
export const keptFormulas = (before: ContextSchema, after: ContextSchema): ReadonlySet<string> => {
  const expressions = new Map(fieldsOf(before).map(({ field }) => [field.key, field.expression]));
  return new Set(
    fieldsOf(after)
      .filter(({ field }) => field.expression !== undefined && expressions.get(field.key) === field.expression)
      .map(({ path }) => `${path}/expression`),
  );
};

const fieldsOf = ({ base, derived = [] }: ContextSchema) => [
  ...base.map((field, index) => ({ field, path: `/schema/base/${index}` })),
  ...derived.map((field, index) => ({ field, path: `/schema/derived/${index}` })),
];
