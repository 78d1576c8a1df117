import { type Database, releaseInstances, type TakenOperation } from '@decision/persistence';
import { type ContextDirectory } from '../definitions/context-directory';
import { operate, type OperateContext } from '../operations/operate';
import { type RequestOrigin } from '../operations/work';

/** What operations that were taken over are carried on with. */
export interface ResumeContext {
  readonly database: Database;
  readonly directory: ContextDirectory;
  readonly operate: OperateContext;
  /** How long one of them may take, ms. */
  readonly timeoutMs: number;
  /** Epoch ms. */
  readonly now: () => number;
  readonly newId: () => string;
}

/**
 * Carries on where the owner of an operation fell silent: its merge is committed, so what is left is to run what is due now. The rows are freed
 * under their new fences, which the former owner does not have, and then looked at like any dependent instances. Whoever came first to a line
 * goes first; what is due then is due to them as well.
 */
export const resume = async (
  { database, directory, operate: operating, timeoutMs, now, newId }: ResumeContext,
  { workspaceId, contextId, held }: TakenOperation,
): Promise<void> => {
  const beganAt = now();
  const access = { workspaceId, userGroups: undefined };
  const context = await database.inWorkspace(access, async (transaction) => {
    await releaseInstances(transaction, contextId, held);
    return directory.openById(transaction, workspaceId, contextId);
  });
  if (context === undefined || held.fences.size === 0) return;
  const origin: RequestOrigin = {
    ...{ access, keyId: undefined, requestId: newId(), traceparent: undefined },
    now: beganAt,
    deadline: beganAt + timeoutMs,
  };
  const given = [...held.fences.keys()].map((instanceId) => ({ instanceId, facts: {} }));
  await operate(operating, { context, origin, given, mode: 'dependent' });
};
