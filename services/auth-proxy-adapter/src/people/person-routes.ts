import { isDeepStrictEqual } from 'node:util';
import {
  cacheKeys,
  compileValidator,
  getPassthroughClaims,
  type PassthroughClaims,
  type ProvisionAnswer,
  type ProvisionRequest,
  provisionSso,
  ServiceError,
} from '@decision/contracts';
import { type Database, findPerson, type PersonRecord, revokeSession, type Transaction } from '@decision/persistence';
import { clearedCookie, requireSameSite } from '@decision/sessions';
import { type DoorAnswer, type DoorRequest, type DoorRoute } from '../door/route';
import { accessDenied, announceEnd, announceRights, type ApplySavedMapping } from '../passthrough/begin-session';
import { isKeepable } from '../passthrough/token';
import { cookieFor, isSecure, requireVisitor, type Visitor, type Visitors } from './visitors';

/** Dependencies of routes for signed-in people. */
export interface PersonContext {
  readonly visitors: Visitors;
  readonly database: Pick<Database, 'inWorkspace'>;
  readonly applyMapping: ApplySavedMapping;
  /** Makes every process forget an ended session, or the rights of a user, by the key of invalidations. */
  readonly forget: (workspaceId: string, key: string) => Promise<void>;
}

/** The cookie for a visitor without one. */
export const newCookies = (visitor: Visitor, { headers }: DoorRequest): readonly string[] =>
  visitor.isNew ? [cookieFor(visitor, headers)] : [];

/** Reads and changes as the person: row security hides everything that the person does not see. */
export const asPerson = <T>(
  { database }: Pick<PersonContext, 'database'>,
  { session }: Visitor,
  { context }: DoorRequest,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> =>
  database.inWorkspace(
    {
      ...{ workspaceId: session.workspaceId, userGroups: undefined, userId: session.userId },
      ...{ actor: `user:${session.userId}`, origin: { address: context.address, requestId: context.requestId } },
    },
    work,
  );

/** Calls of signed-in people. */
export const personRoutes = (context: PersonContext): readonly DoorRoute[] => [
  { operation: getPassthroughClaims, answer: (request) => answerClaims(context, request) },
  { operation: provisionSso, answer: (request) => provision(context, request) },
];

const answerClaims = async (context: PersonContext, request: DoorRequest): Promise<DoorAnswer> => {
  const visitor = await requireVisitor(context, request);
  const person = await asPerson(context, visitor, request, (transaction) => requirePerson(transaction, visitor));
  const { external_sub, external_claims, full_name } = person.metadata;
  const body: PassthroughClaims = { external_sub, external_claims, full_name };
  return { status: 200, body, cookies: newCookies(visitor, request) };
};

const requirePerson = async (transaction: Transaction, { session }: Visitor): Promise<PersonRecord> => {
  const person = await findPerson(transaction, session.userId);
  if (person !== undefined) return person;
  throw new ServiceError('invalid_session', 'The user of this session no longer exists; sign in again.');
};

const provision = async (context: PersonContext, request: DoorRequest): Promise<DoorAnswer> => {
  requireSameSite(request.method, request.headers);
  const visitor = await requireVisitor(context, request);
  const claims = await readClaims(request);
  const { workspaceId, userId, sessionId } = visitor.session;
  const origin = { address: request.context.address, requestId: request.context.requestId };
  const access = { workspaceId, userGroups: undefined, actor: `user:${userId}`, origin };
  const outcome = await context.database.inWorkspace(access, async (transaction) => {
    const before = await requirePerson(transaction, visitor);
    if (!isDeepStrictEqual(claims, before.metadata.external_claims)) throw foreignClaims();
    const { denied, ...mapped } = await context.applyMapping(transaction, userId, claims);
    await announceRights(transaction, userId, mapped);
    if (denied !== undefined) {
      await revokeSession(transaction, sessionId);
      await announceEnd(transaction, sessionId);
    }
    return { denied, changed: mapped.changed, person: await requirePerson(transaction, visitor) };
  });
  if (outcome.denied !== undefined) {
    await context.forget(workspaceId, cacheKeys.session(sessionId));
    const { status, code, message, details } = accessDenied(outcome.denied);
    const body = { error: message, code, ...details, request_id: request.context.requestId };
    return { status, body, cookies: [clearedCookie({ secure: isSecure(request.headers) })] };
  }
  if (outcome.changed) await context.forget(workspaceId, cacheKeys.user(userId));
  return { status: 200, body: toAnswer(outcome.person, outcome.changed), cookies: newCookies(visitor, request) };
};

const toAnswer = (person: PersonRecord, changed: boolean): ProvisionAnswer => ({
  ...{ user_id: person.id, parent_id: person.parentId, role: person.role, changed },
  ...{ user_groups: [...person.userGroups], all_groups: person.allGroups, profile: { ...person.metadata.profile } },
});

const foreignClaims = (): ServiceError =>
  new ServiceError(
    'forbidden',
    'The claims in "identity_claims" differ from those with which this session was started; sign out and in again to use new ones.',
    { reason: 'foreign_claims' },
  );

const checkBody = compileValidator(provisionSso.body.schema);

const readClaims = async (request: DoorRequest): Promise<ProvisionRequest['identity_claims']> => {
  const given = parse(await request.json());
  const checked = checkBody(given);
  if (checked.ok && isKeepable(checked.value.identity_claims)) return checked.value.identity_claims;
  const problems = checked.ok
    ? [{ path: '/identity_claims', message: 'nests too deep, or holds U+0000' }]
    : checked.problems;
  throw new ServiceError('invalid_request', `The body ${problems[0]?.message ?? 'is invalid'}.`, {
    problems: problems.map(({ path, message }) => ({ in: 'body', path, message })),
  });
};

const parse = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new ServiceError('invalid_json', 'The body is not JSON.');
  }
};
