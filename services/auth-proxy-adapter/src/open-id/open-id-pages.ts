import { type Branding, type Claims, page, ServiceError } from '@decision/contracts';
import { type createRefusalGuard, type Logger } from '@decision/service-kit';
import { clearedCookie, sessionCookie, type Tickets } from '@decision/sessions';
import { type Slots } from '@decision/waiting';
import { createSignInSlots } from '../door/sign-in-slots';
import { type DoorAnswer, type DoorRequest, type DoorRoute } from '../door/route';
import { html, pageAnswer, redirectTo } from '../pages/html';
import { type Origin } from '../passthrough/admit';
import { type ClaimPaths, identityOf, type TokenIdentity } from '../passthrough/claims';
import { isKeepable } from '../passthrough/token';
import { isSecure } from '../people/visitors';
import { OpenIdFailure, type OpenIdFlow, type OpenIdProblem, type OpenIdProvider } from './provider';

/** Dependencies of signing in at an OpenID provider. */
export interface OpenIdContext {
  readonly branding: Branding;
  readonly provider: OpenIdProvider;
  /** Tickets that carry a sign-in to the provider and back. */
  readonly tickets: Tickets;
  readonly claimPaths: ClaimPaths;
  /** Whether the provider must say that the address has been verified. */
  readonly mustBeVerified: boolean;
  /** Creates or updates the person and begins a session; answers its token. Throws `forbidden` if the person is not admitted. */
  readonly begin: (identity: TokenIdentity, origin: Origin) => Promise<string>;
  /** Records that somebody with this address was refused. */
  readonly recordRefusal: (email: string, reason: string, origin: Origin) => Promise<void>;
  readonly guard: ReturnType<typeof createRefusalGuard>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly sessionMs: number;
}

/** Path of the callback, which is registered with the provider. */
export const CALLBACK_PATH = '/auth/oidc/callback';
/** How long a person may stay at the provider, s. */
export const FLOW_SECONDS = 600;
/** Sign-ins that may run at once, and that may wait. */
const SLOTS = { running: 4, waiting: 64 };
/** Maximum characters of a provider's query. */
const MAX_QUERY = 8_192;

/** The redirect to the OpenID provider, and the callback. */
export const openIdPages = (context: OpenIdContext): readonly DoorRoute[] => {
  const slots = createSignInSlots(SLOTS);
  return [
    {
      operation: page({
        id: 'beginOpenId',
        path: '/auth/oidc',
        status: 303,
        summary: 'Leads to the OpenID provider',
        description:
          'With a state, a nonce and a code challenge, which a cookie of ten minutes keeps for the way back.',
        errors: ['too_many_refusals', 'overloaded'],
      }),
      answer: (request) => slots.run(() => begin(context, request)),
    },
    {
      operation: page({
        id: 'finishOpenId',
        path: CALLBACK_PATH,
        status: 303,
        summary: 'Signs in a person who comes back from the OpenID provider',
        description:
          'Leads to /dashboard with a session, or to /auth/denied if the mapping refuses the claims or the person is disabled. An unverifiable callback is answered 400, a refusal by the provider 401, and 503 while the provider does not answer.',
        errors: ['too_many_refusals', 'overloaded', 'database_unavailable'],
      }),
      answer: (request) => finish(context, slots, request),
    },
  ];
};

const begin = async (context: OpenIdContext, request: DoorRequest): Promise<DoorAnswer> => {
  try {
    const { url, flow } = await context.provider.begin();
    return redirectTo(url, [flowCookie(await context.tickets.issue({ ...flow }), request)]);
  } catch (error) {
    return explain(context, request, error);
  }
};

const finish = async (context: OpenIdContext, slots: Slots, request: DoorRequest): Promise<DoorAnswer> => {
  const startedAt = performance.now();
  const check = context.guard.admit(request.context.address);
  try {
    const token = await slots.run(async () => {
      const claims = await provenClaims(context, request);
      return context.begin(identityOf(claims, context.claimPaths), originOf(request));
    });
    check.end();
    const secure = isSecure(request.headers);
    const cookie = sessionCookie(token, { secure, maxAgeSeconds: context.sessionMs / 1_000 });
    return redirectTo('/dashboard', [cookie, flowCookie('', request)]);
  } catch (error) {
    // A delayed refusal takes no slot of others; a failure that is not the browser's is not a refusal.
    if (isOurFault(error)) check.end();
    else await check.refuse(startedAt);
    return explain(context, request, error);
  }
};

const isOurFault = (error: unknown): boolean =>
  error instanceof OpenIdFailure
    ? error.problem === 'unavailable'
    : !(error instanceof ServiceError) || error.code === 'database_unavailable' || error.code === 'overloaded';

const originOf = ({ headers, context }: DoorRequest): Origin => ({
  userAgent: headers['user-agent'],
  address: context.address,
});

/** The provider's claims about the person. Throws {@link OpenIdFailure}, and `invalid_token` for insufficient claims. */
const provenClaims = async (
  { provider, tickets, claimPaths, mustBeVerified, recordRefusal }: OpenIdContext,
  request: DoorRequest,
): Promise<Claims> => {
  const flow = await tickets.read(flowIn(request));
  if (flow === undefined) throw new OpenIdFailure('unproven', 'The browser sent no sign-in that was started here.');
  const query = `?${request.query.toString()}`;
  if (query.length > MAX_QUERY) throw new OpenIdFailure('unproven', 'The query is too long.');
  const { state = '', nonce = '', verifier = '' } = flow;
  const claims = await provider.finish(query, { state, nonce, verifier } satisfies OpenIdFlow);
  if (!isKeepable(claims)) throw new OpenIdFailure('unavailable', 'The claims cannot be kept.');
  if (!mustBeVerified || claims['email_verified'] === true) return claims;
  await recordRefusal(identityOf(claims, claimPaths).email, 'address not verified', originOf(request));
  throw new OpenIdFailure('refused', 'The provider does not say that the address is verified.');
};

const COOKIE = 'decision_oidc';

/**
 * The cookie of a sign-in while its person is at the provider; an empty value removes it. The browser must send it with the provider's
 * redirect.
 */
const flowCookie = (ticket: string, { headers }: DoorRequest): string => {
  const [prefix, suffix] = isSecure(headers) ? ['__Host-', '; Secure'] : ['', ''];
  const maxAge = ticket === '' ? 0 : FLOW_SECONDS;
  return `${prefix}${COOKIE}=${ticket}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${suffix}`;
};

/** The ticket of the cookie; undefined if there are several, or it is too long. */
const flowIn = ({ headers }: DoorRequest): string => {
  const name = `${isSecure(headers) ? '__Host-' : ''}${COOKIE}=`;
  const found = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(name));
  return found.length === 1 ? (found[0]?.slice(name.length) ?? '') : '';
};

const SENTENCES: Readonly<Record<OpenIdProblem, { readonly status: number; readonly sentence: string }>> = {
  refused: { status: 401, sentence: 'You were not signed in there, or your address is not verified there.' },
  unproven: { status: 400, sentence: 'This sign-in was not started here, took too long, or was already used.' },
  unavailable: { status: 503, sentence: 'The directory does not answer as it should at this moment.' },
};

const explain = (context: OpenIdContext, request: DoorRequest, error: unknown): DoorAnswer => {
  const cookies = [flowCookie('', request)];
  if (error instanceof ServiceError && error.code === 'forbidden')
    return redirectTo('/auth/denied', [...cookies, clearedCookie({ secure: isSecure(request.headers) })]);
  const failure =
    error instanceof ServiceError && error.code === 'invalid_token'
      ? new OpenIdFailure('refused', 'The claims hold no address that can be used.')
      : error;
  if (!(failure instanceof OpenIdFailure)) throw error;
  const { problem, message } = failure;
  context.logger.warn({ problem, reason: message }, 'A sign-in at the OpenID provider failed.');
  const { status, sentence } = SENTENCES[problem];
  return pageAnswer(context.branding, {
    title: 'You are not signed in',
    status,
    cookies,
    content: html`<p class="problem" role="alert">${sentence}</p>
      <p><a href="/auth/oidc">Begin again</a></p>
      <p><a href="/auth/signin">Sign in with a password of this service</a></p>`,
  });
};
