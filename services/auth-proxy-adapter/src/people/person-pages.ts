import { type IncomingHttpHeaders } from 'node:http';
import { type Branding, cacheKeys, page } from '@decision/contracts';
import { revokeSession, type StoredSession } from '@decision/persistence';
import { clearedCookie, requireSameSite } from '@decision/sessions';
import { type DoorAnswer, type DoorRequest, type DoorRoute } from '../door/route';
import { announceEnd } from '../passthrough/begin-session';
import { html, pageAnswer, redirectTo } from '../pages/html';
import { newCookies, type PersonContext } from './person-routes';
import { isSecure, type Visitor, visitorOf } from './visitors';

export interface PageContext extends PersonContext {
  readonly branding: Branding;
  /** The session of the cookie, regardless of other credentials; undefined if it is no longer valid. */
  readonly sessionOf: (headers: IncomingHttpHeaders) => Promise<StoredSession | undefined>;
}

/** The plain page of a signed-in person, and the sign-out. */
export const personPages = (context: PageContext): readonly DoorRoute[] => [
  {
    operation: page({
      id: 'showDashboard',
      path: '/dashboard',
      summary: 'Who is signed in, and where to go on',
      description: 'Without a session, and without passthrough, it leads to /auth/signin.',
      errors: ['missing_token', 'invalid_token', 'invalid_session', 'forbidden', 'overloaded', 'database_unavailable'],
    }),
    answer: (request) => answerDashboard(context, request),
  },
  {
    operation: page({
      id: 'signOut',
      method: 'post',
      path: '/auth/signout',
      status: 303,
      summary: 'Ends the session and clears its cookie',
      description: 'In passthrough mode the next request that the proxy lets through begins a new session.',
      errors: ['cross_site_request', 'database_unavailable'],
    }),
    answer: (request) => signOut(context, request),
  },
];

const answerDashboard = async ({ visitors, branding }: PageContext, request: DoorRequest): Promise<DoorAnswer> => {
  const visitor = await visitorOf({ visitors }, request);
  if (visitor === undefined) return redirectTo('/auth/signin');
  return pageAnswer(branding, {
    title: 'Dashboard',
    content: html`${describePerson(visitor)}
      <h2>Go on</h2>
      <ul>
        <li><a href="/api/docs">Calls of the API</a></li>
        <li><a href="/api/openapi.json">The same for programs (OpenAPI)</a></li>
      </ul>
      ${
        // The proxy signs people in and out.
        branding.external_auth_token_passthrough
          ? html``
          : html`<ul>
                <li><a href="/auth/changepass">Change your password</a></li>
                <li><a href="/auth/factor">Second factor</a></li>
                <li><a href="/auth/sessions">Where you are signed in</a></li>
              </ul>
              <form method="post" action="/auth/signout"><button type="submit">Sign out</button></form>`
      }`,
    cookies: newCookies(visitor, request),
  });
};

const describePerson = ({ session }: Visitor) =>
  html`<dl>
    <dt>Email</dt>
    <dd>${session.email}</dd>
    <dt>Name</dt>
    <dd>${session.name ?? 'not given'}</dd>
    <dt>Role</dt>
    <dd>${session.role}</dd>
    <dt>Groups</dt>
    <dd>${groupsOf(session)}</dd>
    <dt>Signed in until</dt>
    <dd>${session.expiresAt}</dd>
  </dl>`;

const groupsOf = ({ allGroups, userGroups }: Visitor['session']): string => {
  if (allGroups) return 'all';
  return userGroups.length === 0 ? 'none' : userGroups.join(', ');
};

/** Without a valid session only the cookie is removed. */
const signOut = async (context: PageContext, request: DoorRequest): Promise<DoorAnswer> => {
  requireSameSite(request.method, request.headers);
  const { headers, context: facts } = request;
  const session = await context.sessionOf(headers);
  if (session !== undefined) {
    const { workspaceId, userId, sessionId } = session;
    const origin = { address: facts.address, requestId: facts.requestId };
    await context.database.inWorkspace(
      { workspaceId, userGroups: undefined, actor: `user:${userId}`, origin },
      async (transaction) => {
        await revokeSession(transaction, sessionId);
        await announceEnd(transaction, sessionId);
      },
    );
    await context.forget(workspaceId, cacheKeys.session(sessionId));
  }
  return redirectTo('/dashboard', [clearedCookie({ secure: isSecure(headers) })]);
};
