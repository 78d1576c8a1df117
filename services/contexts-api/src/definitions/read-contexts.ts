import { type ContextDetail, type ContextListItem, type ContextRelationships } from '@decision/contracts';
import {
  type ContextFilters,
  findBoundRules,
  findContextByName,
  listContexts as listStoredContexts,
  loadContextWorld,
  loadRuleInterface,
  type PageRequest,
  type WorkspaceAccess,
} from '@decision/persistence';
import { wholeWorkspace } from '../access';
import { requireValid } from './check-world';
import { type BoundRule, toContextDetail, toListItem, toRelationships } from './context-answers';
import { contextNotFound } from './context-directory';
import { type DefinitionsContext } from './save-context';
import { toWorld } from './to-definition';

interface ListedContexts {
  readonly data: ContextListItem[];
  readonly next_cursor: string | null;
}

export const listContexts = (
  { database }: Pick<DefinitionsContext, 'database'>,
  access: WorkspaceAccess,
  filters: ContextFilters,
  page: PageRequest | undefined,
): Promise<ListedContexts> =>
  database.inWorkspace(access, async (transaction) => {
    const { contexts, nextCursor } = await listStoredContexts(transaction, filters, page);
    return { data: contexts.map(toListItem), next_cursor: nextCursor };
  });

/** A context with the rules and contexts around it that the access sees. Throws `context_not_found`. */
export const getContext = async (
  { database }: Pick<DefinitionsContext, 'database'>,
  access: WorkspaceAccess,
  name: string,
): Promise<ContextDetail> => {
  const visible = await database.inWorkspace(access, async (transaction) => {
    const record = await findContextByName(transaction, name);
    if (record === undefined) throw contextNotFound(name);
    const bound: BoundRule[] = [];
    for (const rule of await findBoundRules(transaction, record.slug)) {
      const fields = rule.versionId === null ? undefined : await loadRuleInterface(transaction, rule.versionId);
      bound.push({ rule, fields });
    }
    return { record, bound, world: await loadContextWorld(transaction) };
  });
  const whole = await database.inWorkspace(wholeWorkspace(access), loadContextWorld);
  return toContextDetail(visible.record, requireValid(visible.record.id, toWorld(whole)), visible.bound, visible.world);
};

/** Throws `context_not_found`. */
export const listRelationships = (
  { database }: Pick<DefinitionsContext, 'database'>,
  access: WorkspaceAccess,
  name: string,
): Promise<ContextRelationships> =>
  database.inWorkspace(access, async (transaction) => {
    const record = await findContextByName(transaction, name);
    if (record === undefined) throw contextNotFound(name);
    return toRelationships(record, await loadContextWorld(transaction));
  });
