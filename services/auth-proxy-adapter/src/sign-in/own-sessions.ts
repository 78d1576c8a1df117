import { cacheKeys, page, ServiceError } from '@decision/contracts';
import { listSessions, revokeSession, revokeSessionsOf } from '@decision/persistence';
import { clearedCookie, requireSameSite } from '@decision/sessions';
import { type DoorAnswer, type DoorRequest, type DoorRoute } from '../door/route';
import { html, pageAnswer, redirectTo } from '../pages/html';
import { asPerson } from '../people/person-routes';
import { isSecure, requireVisitor, type Visitor } from '../people/visitors';
import { announceEnds, pageOfVisitor, type SignInContext } from './sign-in-context';

const PATH = '/auth/sessions';
/** A person has at most 100 live sessions. */
const MOST = 100;

/** Lists where a person is signed in, and ends sessions. */
export const sessionPages = (context: SignInContext): readonly DoorRoute[] => [
  {
    operation: page({
      id: 'showOwnSessions',
      path: PATH,
      summary: 'Page with the own sessions',
      description: 'Since when, whence and how somebody is signed in.',
      errors: ['invalid_session', 'database_unavailable'],
    }),
    answer: pageOfVisitor(context, (request, visitor) => show(context, request, visitor)),
  },
  {
    operation: page({
      id: 'endOwnSessions',
      method: 'post',
      path: PATH,
      status: 303,
      summary: 'Ends one of the own sessions, or all of them',
      description: 'A form with the field end: the id of a session, or all, which signs out here too.',
      errors: ['invalid_session', 'cross_site_request', 'unsupported_media_type', 'database_unavailable'],
    }),
    answer: (request) => end(context, request),
  },
];

const show = async (context: SignInContext, request: DoorRequest, visitor: Visitor): Promise<DoorAnswer> => {
  const { userId, sessionId } = visitor.session;
  const { sessions } = await asPerson(context, visitor, request, (transaction) =>
    listSessions(transaction, { userId, page: { limit: MOST, cursor: undefined } }),
  );
  return pageAnswer(context.branding, {
    title: 'Where you are signed in',
    content: html`<ul>
        ${sessions.map(
          ({ id, createdAt, address, userAgent, method }) =>
            html`<li>
              ${id === sessionId ? html`<strong>Here</strong>, ` : html``}since ${createdAt}, from
              ${address ?? 'an unknown address'}, by ${method}: ${userAgent ?? 'an unknown program'}
              <form method="post" action="${PATH}">
                <button type="submit" name="end" value="${id}">Sign out there</button>
              </form>
            </li>`,
        )}
      </ul>
      <form method="post" action="${PATH}">
        <button type="submit" name="end" value="all">Sign out everywhere</button>
      </form>
      <p><a href="/dashboard">Go back</a></p>`,
  });
};

const end = async (context: SignInContext, request: DoorRequest): Promise<DoorAnswer> => {
  requireSameSite(request.method, request.headers);
  const visitor = await requireVisitor(context, request);
  const { userId, sessionId, workspaceId } = visitor.session;
  const which = (await request.form()).get('end') ?? '';
  if (which === '') throw new ServiceError('invalid_request', 'The field "end" must be the id of a session, or all.');
  const keys = await asPerson(context, visitor, request, async (transaction) => {
    const ids =
      which === 'all'
        ? await revokeSessionsOf(transaction, userId)
        : (await revokeSession(transaction, which, { userId })) === undefined
          ? []
          : [which];
    return announceEnds(transaction, ids);
  });
  await Promise.all(keys.map((key) => context.forget(workspaceId, key)));
  if (!keys.includes(cacheKeys.session(sessionId))) return redirectTo(PATH);
  return redirectTo('/auth/signin', [clearedCookie({ secure: isSecure(request.headers) })]);
};
