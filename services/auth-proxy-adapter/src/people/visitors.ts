import { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { ServiceError } from '@decision/contracts';
import { type StoredSession } from '@decision/persistence';
import { type RequestContext } from '@decision/service-kit';
import { cookieTokenOf, sessionCookie, type SessionVerifier } from '@decision/sessions';
import { type DoorRequest } from '../door/route';
import { type Admitted, type Passthrough } from '../passthrough/admit';

/** A signed-in person. */
export type Visitor = Admitted<StoredSession>;

/** Says who asks. */
export interface Visitors {
  /** The person of a request, synchronously if known. Undefined: nobody is signed in; in passthrough mode the reason is thrown instead. */
  of(
    request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
    context: Pick<RequestContext, 'address'>,
  ): Visitor | undefined | Promise<Visitor | undefined>;
}

/** In passthrough mode the token of the proxy identifies the person. */
export const visitorsByToken = (passthrough: Passthrough<StoredSession>): Visitors => ({
  of: ({ headers, rawHeaders }, context) =>
    passthrough.admit({
      ...{ headers, rawHeaders, userAgent: headers['user-agent'] },
      get address() {
        return context.address;
      },
    }),
});

/** Without passthrough the session identifies the person. Throws `invalid_session` for contradictory cookies. */
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

/** The signed-in person, if any. */
export const visitorOf = (
  { visitors }: { readonly visitors: Visitors },
  { headers, rawHeaders, context }: DoorRequest,
): Visitor | undefined | Promise<Visitor | undefined> => visitors.of({ headers, rawHeaders: [...rawHeaders] }, context);

/** The signed-in person. Throws `invalid_session` if there is none. */
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

/** The cookie with the session of a person, valid as long as the session. */
export const cookieFor = ({ token, session }: Visitor, headers: IncomingHttpHeaders): string =>
  sessionCookie(token, {
    secure: isSecure(headers),
    maxAgeSeconds: (Date.parse(session.expiresAt) - Date.now()) / 1_000,
  });
