import { type Static, Type } from '@sinclair/typebox';
import { described } from '../../described';
import { nullable } from '../../page-schema';
import { type Operation } from '../operation';

const shared = { service: 'auth-proxy-adapter', tag: 'People', pathParameters: [] } as const;

const claims = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

const exampleClaims = { sub: 'directory-7', email: 'ada@example.com', name: 'Ada', team: 'pricing' };

const CheckAnswer = Type.Object({}, { $id: 'CheckAnswer', description: 'Nothing; headers say everything.' });

/** The authentication check of an ingress. It is answered for every method, and for every path below. */
export const checkRequest = {
  ...shared,
  id: 'checkRequest',
  method: 'get',
  path: '/auth/check',
  summary: 'Whether a request of a person may go on (for an ingress)',
  description:
    'Asked by an ingress, with the headers of the request that it holds, and its path in x-forwarded-uri or x-original-uri, or appended to this one. 200 has the session in x-decision-session and, where the browser has none yet, a cookie. Answered for every method. With redirects=true a browser that is refused for good is sent to /auth/denied.',
  query: Type.Object(
    {
      redirects: Type.Optional(
        Type.String({
          description: '`true`: the ingress hands redirects on to the browser.',
          examples: ['true'],
        }),
      ),
    },
    { $id: 'CheckRequestQuery', description: 'What the ingress can do.' },
  ),
  success: { status: 200, description: 'The request may go on.', schema: CheckAnswer, example: {} },
  errors: ['missing_token', 'invalid_token', 'invalid_session', 'forbidden', 'overloaded', 'database_unavailable'],
} as const satisfies Operation;

const ProvisionRequest = Type.Object(
  {
    identity_claims: claims(
      'Every claim of the token, decoded. They must equal those with which the session was started.',
    ),
  },
  { $id: 'ProvisionRequest', additionalProperties: false, description: 'Who the caller is.' },
);
export type ProvisionRequest = Static<typeof ProvisionRequest>;

const ProvisionAnswer = Type.Object(
  {
    user_id: Type.String({ format: 'uuid', description: 'Id of the person.' }),
    parent_id: described(nullable(Type.String({ format: 'uuid' })), 'Id of the admin; null for the admin.'),
    role: Type.String({ description: 'Name of the role.' }),
    user_groups: Type.Array(Type.String(), { description: 'Groups of the person.' }),
    all_groups: Type.Boolean({ description: 'Whether the person sees all groups.' }),
    profile: claims('Fields that the mapping filled.'),
    changed: Type.Boolean({ description: 'Whether the mapping changed anything.' }),
  },
  { $id: 'ProvisionAnswer', description: 'What the mapping made of the person.' },
);
export type ProvisionAnswer = Static<typeof ProvisionAnswer>;

export const provisionSso = {
  ...shared,
  id: 'provisionSso',
  method: 'post',
  path: '/api/sso-provision',
  summary: 'Apply the mapping of claims to oneself again',
  description:
    'Asks for a session, and for a same-origin request. The claims of the body must equal those that are stored for the person of the session: a caller cannot grant itself anything. A rejection by the access mapping ends the session.',
  body: {
    schema: ProvisionRequest,
    description: 'The decoded token.',
    example: { identity_claims: exampleClaims },
  },
  success: {
    status: 200,
    description: 'The mapping was applied.',
    schema: ProvisionAnswer,
    example: {
      user_id: '7a2e0f3c-0b1d-4c5e-8f6a-9b0c1d2e3f40',
      parent_id: '0b1d7a2e-0f3c-4c5e-8f6a-9b0c1d2e3f41',
      role: 'developer',
      user_groups: ['pricing'],
      all_groups: false,
      profile: {},
      changed: true,
    },
  },
  errors: [
    'missing_token',
    'invalid_token',
    'invalid_session',
    'cross_site_request',
    'forbidden',
    'database_unavailable',
  ],
} as const satisfies Operation;

const PassthroughClaims = Type.Object(
  {
    external_sub: described(nullable(Type.String()), 'Id in the directory; null if the token had none.'),
    external_claims: claims('Every claim of the token with which the session was started.'),
    full_name: described(nullable(Type.String()), 'Name from the token; null if it had none.'),
  },
  { $id: 'PassthroughClaims', description: 'What the directory said of the person.' },
);
export type PassthroughClaims = Static<typeof PassthroughClaims>;

export const getPassthroughClaims = {
  ...shared,
  id: 'getPassthroughClaims',
  method: 'get',
  path: '/api/passthrough-claims',
  summary: 'The stored claims of the person who asks',
  description: 'Asks for a session.',
  success: {
    status: 200,
    description: 'The claims.',
    schema: PassthroughClaims,
    example: { external_sub: 'directory-7', external_claims: exampleClaims, full_name: 'Ada' },
  },
  errors: ['missing_token', 'invalid_token', 'invalid_session', 'forbidden', 'database_unavailable'],
} as const satisfies Operation;
