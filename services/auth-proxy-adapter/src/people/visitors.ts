import { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { ServiceError } from '@decision/contracts';
import { type StoredSession } from '@decision/persistence';
import { type RequestContext } from '@decision/service-kit';
import { cookieTokenOf, sessionCookie, type SessionVerifier } from '@decision/sessions';
import { type DoorRequest } from '../door/route';
import { type Admitted, type Passthrough } from '../passthrough/admit';

/** Somebody who is signed in. */
export type Visitor = Admitted<StoredSession>;

/** Says who asks. */
export interface Visitors {
  /**
   * The person behind a request, at once where the person is known. Undefined: nobody is signed in; never so in passthrough mode, where the reason is
   * thrown instead.
   */
  of(
    request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
    context: Pick<RequestContext, 'address'>,
  ): Visitor | undefined | Promise<Visitor | undefined>;
}

/** In passthrough mode the token of the proxy says who asks. */
export const visitorsByToken = (passthrough: Passthrough<StoredSession>): Visitors => ({
  of: ({ headers, rawHeaders }, context) =>
    passthrough.admit({
      ...{ headers, rawHeaders, userAgent: headers['user-agent'] },
      get address() {
        return context.address;
      },
    }),
});

/** Without passthrough the session says who asks. Throws `invalid_session` for contradictory cookies. */
export const visitorsBySession = (verifier: Pick<SessionVerifier<StoredSession>, 'recall' | 'verify'>): Visitors => ({
  of: ({ headers }) => {
    const token = cookieTokenOf(headers);
    if (token === undefined) return undefined;
    const toVisitor = (session: StoredSession | undefined): Visitor | undefined =>
      session && { session, token, isNew: false };
    const known = verifier.recall(token);
    return known === undefined ? verifier.verify(token).then(toVisitor) : toVisitor(known);
  },
});

/** Without JWT_SECRET there are no sessions. */
export const noVisitors: Visitors = { of: () => undefined };

/** Who is signed in, if anybody is. */
export const visitorOf = (
  { visitors }: { readonly visitors: Visitors },
  { headers, rawHeaders, context }: DoorRequest,
): Visitor | undefined | Promise<Visitor | undefined> => visitors.of({ headers, rawHeaders: [...rawHeaders] }, context);

/** Who is signed in. Throws `invalid_session` where nobody is. */
export const requireVisitor = async (
  context: { readonly visitors: Visitors },
  request: DoorRequest,
): Promise<Visitor> => {
  const visitor = await visitorOf(context, request);
  if (visitor !== undefined) return visitor;
  throw new ServiceError('invalid_session', 'You are not signed in, or no longer; sign in again.');
};

/** Whether the browser reaches the ingress over TLS. */
export const isSecure = ({ 'x-forwarded-proto': protocol }: IncomingHttpHeaders): boolean => protocol === 'https';

/** The cookie with the session of a person, for as long as the session lasts. */
export const cookieFor = ({ token, session }: Visitor, headers: IncomingHttpHeaders): string =>
  sessionCookie(token, {
    secure: isSecure(headers),
    maxAgeSeconds: (Date.parse(session.expiresAt) - Date.now()) / 1_000,
  });
