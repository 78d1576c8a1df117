import { type Cache } from '@decision/cache';
import { ServiceError } from '@decision/contracts';
import { openSessions } from '@decision/infrastructure';
import { type Database, findSignInWorkspace } from '@decision/persistence';
import { type Metrics } from '@decision/service-kit';
import { sessionTokenOf } from '@decision/sessions';
import { type AdapterConfig, isPassthrough } from '../config';
import { createPassthrough } from '../passthrough/admit';
import { type ApplySavedMapping, createBeginSession } from '../passthrough/begin-session';
import { type PageContext } from './person-pages';
import { visitorsBySession, visitorsByToken } from './visitors';

interface PeopleOpening {
  readonly config: AdapterConfig;
  readonly database: Database;
  readonly cache: Pick<Cache, 'invalidations'>;
  readonly metrics: Metrics;
  readonly applyMapping: ApplySavedMapping;
}

const HOUR_MS = 3_600_000;

/** Everything about people that needs the database and the secret of sessions; undefined where JWT_SECRET is not set. */
export const openPeople = (opening: PeopleOpening): Omit<PageContext, 'branding'> | undefined => {
  const { config, database, cache, metrics, applyMapping } = opening;
  const sessions = openSessions({ database, cache, config, metrics });
  if (sessions === undefined) return undefined;
  const { tokens, verifier } = sessions;
  const passthrough = createPassthrough({
    header: config.tokenHeader,
    claimPaths: { id: config.claimId, email: config.claimEmail, name: config.claimName },
    verifier,
    begin: createBeginSession({
      ...{ database, tokens, applyMapping, sessionMs: config.sessionHours * HOUR_MS, now: Date.now },
      adminEmail: config.adminEmail ?? '',
      workspaceId: createWorkspaceFinder(database, config.signInWorkspace),
    }),
  });
  return {
    ...{ database, applyMapping },
    visitors: isPassthrough(config) ? visitorsByToken(passthrough) : visitorsBySession(verifier),
    forget: (key) => verifier.forget(key),
    sessionOf: ({ cookie }) => {
      const token = sessionTokenOf({ cookie });
      return token === undefined ? Promise.resolve(undefined) : verifier.verify(token);
    },
  };
};

/** Finds the id of the workspace of people, once. Throws `not_ready` while there is none, or several and none is named. */
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
