import { accessOf } from '@decision/infrastructure';
import {
  cacheKeys,
  createResetLink,
  removeSecondFactor,
  getSsoMapping,
  type ListedSession,
  type ListedSignIn,
  listSessions as listSessionsOperation,
  listSignIns as listSignInsOperation,
  revokeSession as revokeSessionOperation,
  revokeUserSessions,
  saveSsoMapping,
  ServiceError,
} from '@decision/contracts';
import { findPerson, listSessions, listSignIns, revokeSession, revokeSessionsOf } from '@decision/persistence';
import { bindOperation, type BoundOperation, readPageQuery } from '@decision/service-kit';
import { changeAndAnnounce } from '../announcements';
import { makeResetLink, removeFactor } from '../people/credentials';
import { readMapping, saveMapping } from '../people/sso-mapping';
import { type UserContext, userNotFound } from '../users/user-context';

/** The calls on the meaning of claims, on sessions, and on sign-ins and refusals. */
export const peopleRoutes = (context: UserContext): readonly BoundOperation[] => [
  bindOperation(getSsoMapping, async ({ identity }) => ({ mapping: await readMapping(context, identity) })),
  bindOperation(saveSsoMapping, ({ identity, body }) => saveMapping(context, identity, body)),
  bindOperation(listSessionsOperation, async ({ identity, query: { user_id: userId, ...paging } }) => {
    const { sessions, nextCursor } = await context.database.inWorkspace(accessOf(identity), (transaction) =>
      listSessions(transaction, { userId, page: readPageQuery(paging) }),
    );
    return { data: sessions.map(toListedSession), next_cursor: nextCursor };
  }),
  bindOperation(revokeSessionOperation, async ({ identity, params }) => {
    const id = params['id'] ?? '';
    await changeAndAnnounce(context, accessOf(identity), async (transaction, announceLater) => {
      if ((await revokeSession(transaction, id)) === undefined) throw sessionNotFound(id);
      announceLater({ kind: 'user', keys: [cacheKeys.session(id)] });
    });
    return { message: 'The session has ended.' };
  }),
  bindOperation(revokeUserSessions, async ({ identity, params }) => {
    const userId = params['id'] ?? '';
    const ended = await changeAndAnnounce(context, accessOf(identity), async (transaction, announceLater) => {
      if ((await findPerson(transaction, userId)) === undefined) throw userNotFound(userId);
      const ids = await revokeSessionsOf(transaction, userId);
      if (ids.length > 0) announceLater({ kind: 'user', keys: [cacheKeys.user(userId)] });
      return ids.length;
    });
    return { message: ended === 1 ? 'One session has ended.' : `${ended} sessions have ended.` };
  }),
  bindOperation(createResetLink, ({ identity, params }) => makeResetLink(context, identity, params['id'] ?? '')),
  bindOperation(removeSecondFactor, ({ identity, params }) => removeFactor(context, identity, params['id'] ?? '')),
  bindOperation(listSignInsOperation, async ({ identity, query }) => {
    const { signIns, nextCursor } = await context.database.inWorkspace(accessOf(identity), (transaction) =>
      listSignIns(transaction, readPageQuery(query)),
    );
    return { data: signIns.map(toListedSignIn), next_cursor: nextCursor };
  }),
];

type StoredSession = Awaited<ReturnType<typeof listSessions>>['sessions'][number];
type StoredSignIn = Awaited<ReturnType<typeof listSignIns>>['signIns'][number];

const toListedSession = (session: StoredSession): ListedSession => ({
  ...{ id: session.id, user_id: session.userId, email: session.email, method: session.method },
  ...{ created_at: session.createdAt, expires_at: session.expiresAt },
  ...{ address: session.address, user_agent: session.userAgent },
});

const toListedSignIn = (signIn: StoredSignIn): ListedSignIn => ({
  ...{ id: signIn.id, created_at: signIn.createdAt, user_id: signIn.userId, email: signIn.email },
  ...{ method: signIn.method, outcome: signIn.outcome, reason: signIn.reason },
  ...{ address: signIn.address, user_agent: signIn.userAgent },
});

const sessionNotFound = (id: string): ServiceError =>
  new ServiceError('session_not_found', `No live session with the id ${id} is visible.`, { id });
