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
 * Carries on where the owner of an operation fell silent: its merge is committed, so what is left is to run what is due now. The row is freed
 * under the new fence, which the former owner does not have, and then looked at like any dependent instance. Whoever came first to its line
 * goes first; what is due then is due to them as well.
 */
export const resume = async (
  { database, directory, operate: operating, timeoutMs, now, newId }: ResumeContext,
  { workspaceId, contextId, instanceId, operationId, fence }: TakenOperation,
): Promise<void> => {
  const beganAt = now();
  const access = { workspaceId, userGroups: undefined };
  const context = await database.inWorkspace(access, async (transaction) => {
    await releaseInstances(transaction, contextId, { operationId, fences: new Map([[instanceId, fence]]) });
    return directory.openById(transaction, workspaceId, contextId);
  });
  if (context === undefined) return;
  const origin: RequestOrigin = {
    ...{ access, keyId: undefined, requestId: newId(), traceparent: undefined },
    now: beganAt,
    deadline: beganAt + timeoutMs,
  };
  await operate(operating, { context, origin, given: [{ instanceId, facts: {} }], mode: 'dependent' });
};
