import { setTimeout as sleep } from 'node:timers/promises';
import { type Cache } from '@decision/cache';
import { ServiceError } from '@decision/contracts';
import { openSessions } from '@decision/infrastructure';
import { type Database, findSignInWorkspace, recordSignIn } from '@decision/persistence';
import { createRefusalGuard, type Logger, type Metrics } from '@decision/service-kit';
import { cookieTokenOf, createTickets, type Tickets } from '@decision/sessions';
import { createSignInSlots } from './door/sign-in-slots';
import { type AdapterConfig, isPassthrough } from './config';
import { createPassthrough } from './passthrough/admit';
import { type ApplySavedMapping, createBeginSession } from './passthrough/begin-session';
import { CALLBACK_PATH, FLOW_SECONDS, type OpenIdContext } from './open-id/open-id-pages';
import { createOpenIdProvider } from './open-id/provider';
import { type MailToPeople } from './sign-in/forgotten-password';
import { type SignInContext } from './sign-in/sign-in-context';
import { type PageContext } from './people/person-pages';
import { visitorsBySession, visitorsByToken } from './people/visitors';

interface PeopleOpening {
  readonly config: AdapterConfig;
  readonly database: Database;
  readonly cache: Pick<Cache, 'invalidations'>;
  readonly metrics: Metrics;
  readonly logger: Pick<Logger, 'warn'>;
  readonly applyMapping: ApplySavedMapping;
  /** Undefined: no mails are sent. */
  readonly mail?: MailToPeople | undefined;
}

const HOUR_MS = 3_600_000;
/** Each hash takes 46 MiB and a thread for some tens of milliseconds. */
const HASHES = { running: 2, waiting: 64 };

/** Everything that routes need about people. */
export interface People extends Omit<PageContext, 'branding'> {
  readonly signIn: Omit<SignInContext, 'branding'>;
  readonly mail: MailToPeople | undefined;
  /** Undefined without an OpenID provider. */
  readonly openId: Omit<OpenIdContext, 'branding'> | undefined;
}

/** Everything about people that needs the database and the secret of sessions; undefined if JWT_SECRET is not set. */
export const openPeople = (opening: PeopleOpening): People | undefined => {
  const { config, database, cache, metrics, logger, applyMapping, mail } = opening;
  const sessions = openSessions({ database, cache, config, metrics });
  if (sessions === undefined) return undefined;
  const { tokens, verifier } = sessions;
  const workspaceId = createWorkspaceFinder(database, config.signInWorkspace);
  const sessionMs = config.sessionHours * HOUR_MS;
  const claimPaths = { id: config.claimId, email: config.claimEmail, name: config.claimName };
  const beginning = {
    ...{ database, tokens, applyMapping, workspaceId, sessionMs, now: Date.now },
    adminEmail: config.adminEmail ?? '',
  };
  const passthrough = createPassthrough({
    header: config.tokenHeader,
    claimPaths,
    verifier,
    begin: createBeginSession({ ...beginning, method: 'passthrough' }),
  });
  const visitors = isPassthrough(config) ? visitorsByToken(passthrough) : visitorsBySession(verifier);
  const forget = async (workspace: string, key: string): Promise<void> => {
    verifier.forget(key);
    // The committed announcement replaces a lost message.
    await cache.invalidations.publish({ v: 1, kind: 'user', workspace_id: workspace, keys: [key] });
  };
  const guard = openGuard(metrics);
  return {
    ...{ database, applyMapping, visitors, forget, mail },
    openId: openOpenId(config, {
      ...{ claimPaths, guard, logger, sessionMs },
      begin: createBeginSession({ ...beginning, method: 'oidc' }),
      recordRefusal: async (email, reason, { address, userAgent = null }) =>
        database.inWorkspace(
          { workspaceId: await workspaceId(), userGroups: undefined, actor: 'oidc', origin: { address } },
          (transaction) =>
            recordSignIn(transaction, {
              ...{ email, method: 'oidc', outcome: 'refused', reason, address: address ?? null, userAgent },
            }),
        ),
    }),
    signIn: {
      ...{ database, tokens, workspaceId, sessionMs, visitors, forget, now: Date.now },
      ...{ guard, slots: createSignInSlots(HASHES), codeTickets: openTickets(config, 'second-factor', CODE_SECONDS) },
    },
    sessionOf: (headers) => {
      const token = cookieTokenOf(headers);
      return token === undefined ? Promise.resolve(undefined) : verifier.verify(token);
    },
  };
};

/** The OpenID provider that the configuration names, if any. */
const openOpenId = (
  config: AdapterConfig,
  context: Pick<OpenIdContext, 'claimPaths' | 'guard' | 'logger' | 'sessionMs' | 'begin' | 'recordRefusal'>,
): Omit<OpenIdContext, 'branding'> | undefined => {
  const { oidcIssuerUrl: issuerUrl, oidcClientId: clientId, oidcClientSecret, oidcScopes: scopes } = config;
  if (issuerUrl === undefined || clientId === undefined) return undefined;
  const redirectUrl = `${config.publicUrl}${CALLBACK_PATH}`;
  return {
    ...context,
    provider: createOpenIdProvider({
      ...{ issuerUrl, clientId, scopes, redirectUrl },
      clientSecret: oidcClientSecret?.reveal(),
    }),
    tickets: openTickets(config, 'openid', FLOW_SECONDS),
    mustBeVerified: config.oidcEmailVerified === 'required',
  };
};

/** How long the code may come after the password, s. */
const CODE_SECONDS = 300;

const openTickets = ({ jwtSecret, jwtSecretPrevious }: AdapterConfig, purpose: string, lifeSeconds: number): Tickets =>
  createTickets({
    ...{ purpose, lifeSeconds, now: Date.now },
    ...{ secret: jwtSecret?.reveal() ?? '', previousSecret: jwtSecretPrevious?.reveal() },
  });

/** Slows addresses with too many wrong guesses. */
const openGuard = (metrics: Metrics): SignInContext['guard'] => {
  const refusals = metrics.counter({
    name: 'decision_sign_in_refusals_total',
    help: 'Sign-ins by password that were refused: answered at once, answered late, or turned away with 429.',
    labelNames: ['outcome'],
  });
  return createRefusalGuard({
    now: () => performance.now(),
    sleep: (ms) => sleep(ms),
    onRefusal: (outcome) => refusals.inc({ outcome }),
  });
};

/** Finds the id of the people's workspace, once. Throws `not_ready` while there is none, or if there are several and none is configured. */
const createWorkspaceFinder = (database: Database, slug: string | undefined): (() => Promise<string>) => {
  let known: string | undefined;
  return async () => {
    known ??= (await findSignInWorkspace(database, slug))?.id;
    if (known !== undefined) return known;
    throw new ServiceError(
      'not_ready',
      slug === undefined
        ? 'There is no workspace, or more than one: SIGN_IN_WORKSPACE must name the one of the people who come in here.'
        : 'SIGN_IN_WORKSPACE names a workspace that does not exist.',
    );
  };
};
