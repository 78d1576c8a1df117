import { type Static, type TLiteral, Type } from '@sinclair/typebox';
import { described } from '../../described';
import { nextCursor, nullable, pageQueryFields, timestamp } from '../../page-schema';
import { type Operation } from '../operation';
import { Message } from '../rules/rules';

const oneOf = <T extends string>(names: readonly T[], description: string) =>
  Type.Union(
    names.map((name): TLiteral<T> => Type.Literal(name)),
    { description },
  );

const whence = {
  address: described(
    nullable(Type.String({ description: 'Address of the client; null if it is not known.' })),
    'Address of the client; null if it is not known.',
  ),
  user_agent: described(
    nullable(Type.String({ description: 'Name of the browser, as it says; null if it says none.' })),
    'Name of the browser, as it says; null if it says none.',
  ),
};

const ListedSession = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the session.' }),
    user_id: Type.String({ format: 'uuid', description: 'Id of the person.' }),
    email: Type.String({ description: 'Email address of the person.' }),
    method: oneOf(['passthrough', 'password', 'oidc'], 'How the person signed in.'),
    created_at: described(timestamp, 'When it began, ISO 8601 in UTC.'),
    expires_at: described(timestamp, 'When it ends by itself.'),
    ...whence,
  },
  { $id: 'ListedSession', description: 'A session that is alive.' },
);
export type ListedSession = Static<typeof ListedSession>;

const SessionPage = Type.Object(
  {
    data: Type.Array(ListedSession, { description: 'The sessions of this page.' }),
    next_cursor: described(nextCursor, 'Give it as `cursor` to read the next page; null on the last page.'),
  },
  { $id: 'SessionPage', description: 'One page of live sessions, newest first.' },
);

const ListSessionsQuery = Type.Object(
  {
    user_id: Type.Optional(Type.String({ format: 'uuid', description: 'Sessions of this person alone.' })),
    ...pageQueryFields,
  },
  { $id: 'ListSessionsQuery', additionalProperties: false, description: 'Whose sessions, and which page of them.' },
);

const ListedSignIn = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the entry.' }),
    created_at: described(timestamp, 'When it was, ISO 8601 in UTC.'),
    user_id: described(
      nullable(Type.String({ format: 'uuid', description: 'Id of the person; null if no person has the address.' })),
      'Id of the person; null if no person has the address.',
    ),
    email: Type.String({ description: 'Email address that was given.' }),
    method: oneOf(['passthrough', 'password', 'oidc', 'link'], 'How the person tried to sign in.'),
    outcome: oneOf(['succeeded', 'refused'], 'Whether the person was let in.'),
    reason: described(
      nullable(Type.String({ description: 'Why not; null if the person was let in.' })),
      'Why not; null if the person was let in.',
    ),
    ...whence,
  },
  { $id: 'ListedSignIn', description: 'Somebody who signed in, or was refused.' },
);
export type ListedSignIn = Static<typeof ListedSignIn>;

const SignInPage = Type.Object(
  {
    data: Type.Array(ListedSignIn, { description: 'The entries of this page.' }),
    next_cursor: described(nextCursor, 'Give it as `cursor` to read the next page; null on the last page.'),
  },
  { $id: 'SignInPage', description: 'One page of sign-ins, newest first.' },
);

const ListSignInsQuery = Type.Object(pageQueryFields, {
  ...{ $id: 'ListSignInsQuery', additionalProperties: false, description: 'Which page of sign-ins.' },
});

const shared = { service: 'objects-api', tag: 'People' } as const;
const moment = '2026-01-15T09:30:00.000Z';
const [session, person] = ['6f0c2a4d-1d3b-4a55-9f9b-0d7c2c7e5d0c', '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11'];
const from = { address: '192.0.2.7', user_agent: 'Mozilla/5.0' };

export const listSessions = {
  ...shared,
  id: 'listSessions',
  method: 'get',
  path: '/api/v1/admin/sessions',
  pathParameters: [],
  summary: 'List who is signed in',
  description: 'Sessions that are alive, of people whom the caller sees.',
  entitlement: 'users.manage',
  query: ListSessionsQuery,
  success: {
    status: 200,
    description: 'Sessions, newest first.',
    schema: SessionPage,
    example: {
      data: [
        {
          ...{ id: session, user_id: person, email: 'ada@example.com', method: 'passthrough' },
          ...{ created_at: moment, expires_at: '2026-01-16T09:30:00.000Z', ...from },
        },
      ],
      next_cursor: null,
    },
  },
  errors: [],
} as const satisfies Operation;

export const revokeSession = {
  ...shared,
  id: 'revokeSession',
  method: 'delete',
  path: '/api/v1/admin/sessions/{id}',
  pathParameters: [{ name: 'id', description: 'The id of the session.', example: session }],
  summary: 'End a session',
  description: 'At once where services hear the invalidation channel, and within a minute elsewhere.',
  entitlement: 'users.manage',
  success: {
    status: 200,
    description: 'It has ended.',
    schema: Message,
    example: { message: 'The session has ended.' },
  },
  errors: ['session_not_found'],
} as const satisfies Operation;

export const revokeUserSessions = {
  ...shared,
  id: 'revokeUserSessions',
  method: 'delete',
  path: '/api/v1/admin/users/{id}/sessions',
  pathParameters: [{ name: 'id', description: 'The id of the person.', example: person }],
  summary: 'Sign a person out everywhere',
  description: 'Ends all sessions of a person, as ending each of them does.',
  entitlement: 'users.manage',
  success: {
    status: 200,
    description: 'They have ended.',
    schema: Message,
    example: { message: '2 sessions have ended.' },
  },
  errors: ['user_not_found'],
} as const satisfies Operation;

const ResetLink = Type.Object(
  {
    message: Type.String({ description: 'What was done.' }),
    link: Type.String({ description: 'The link, shown this once. Hand it over yourself; no mail is sent.' }),
    expires_at: described(timestamp, 'When it works no more: a day later.'),
  },
  { $id: 'ResetLink', description: 'A link with which a person chooses a password, once.' },
);

export const createResetLink = {
  ...shared,
  id: 'createResetLink',
  method: 'post',
  path: '/api/v1/admin/users/{id}/reset-link',
  pathParameters: [{ name: 'id', description: 'The id of the person.', example: person }],
  summary: 'Make a link with which a person chooses a password',
  description:
    'For a person who has forgotten the password or never had one. It replaces an earlier link, and works once, for a day. Whoever uses it can do what ' +
    'the person may, so the role of the person may allow nothing that the role of the caller does not, and only callers without restriction make one ' +
    'for somebody who sees everything.',
  entitlement: 'users.manage',
  success: {
    status: 201,
    description: 'The link.',
    schema: ResetLink,
    example: {
      message: 'A link for "ada@example.com" was made. Hand it over; no mail was sent.',
      link: 'https://decisions.example.com/auth/reset/q3v9k2m7p4xw_the-secret-part-is-43-characters-long-xxxxxx',
      expires_at: '2026-01-16T09:30:00.000Z',
    },
  },
  errors: ['user_not_found'],
} as const satisfies Operation;

export const removeSecondFactor = {
  ...shared,
  id: 'removeSecondFactor',
  method: 'delete',
  path: '/api/v1/admin/users/{id}/second-factor',
  pathParameters: [{ name: 'id', description: 'The id of the person.', example: person }],
  summary: 'Turn the second factor of a person off',
  description:
    'For somebody who has lost it, with the recovery codes. Be sure who asks: the password is enough from then on. The person may be allowed and ' +
    'see no more than the caller, as for a link to choose a password.',
  entitlement: 'users.manage',
  success: {
    status: 200,
    description: 'It is off.',
    schema: Message,
    example: { message: '"ada@example.com" signs in with the password alone.' },
  },
  errors: ['user_not_found'],
} as const satisfies Operation;

export const listSignIns = {
  ...shared,
  id: 'listSignIns',
  method: 'get',
  path: '/api/v1/admin/sign-ins',
  pathParameters: [],
  summary: 'Read who signed in, and who was refused',
  description: 'Kept for 400 days, also of users who were deleted.',
  entitlement: 'audit.read',
  query: ListSignInsQuery,
  success: {
    status: 200,
    description: 'Sign-ins of people whom the caller sees, newest first.',
    schema: SignInPage,
    example: {
      data: [
        {
          ...{ id: session, created_at: moment, user_id: person, email: 'ada@example.com', method: 'password' },
          ...{ outcome: 'refused', reason: 'wrong password', ...from },
        },
      ],
      next_cursor: null,
    },
  },
  errors: [],
} as const satisfies Operation;
