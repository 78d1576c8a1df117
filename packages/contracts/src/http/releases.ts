import { type Static, type TString, Type } from '@sinclair/typebox';

const uuid = Type.String({ format: 'uuid' });
const time = Type.String({ format: 'date-time' });
const nullable = (schema: TString) => Type.Union([schema, Type.Null()]);
const nullableText = Type.Union([Type.String(), Type.Null()]);

const approvalScheme = Type.Unsafe<'any' | 'all'>({
  type: 'string',
  enum: ['any', 'all'],
  description: 'Whether one approver is enough or each is needed.',
});

const approvers = Type.Array(Type.String(), {
  description: '`role:<name>` or `key:<id>`. Empty: releases go live without approval.',
});

/** A name in a solve address: never `latest`, never a number. */
const environmentSlug = Type.String({ pattern: '^(?!latest$)[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$', maxLength: 100 });

export const Environment = Type.Object(
  {
    id: uuid,
    slug: Type.String(),
    name: Type.String(),
    level: Type.Integer({ description: 'Releases are promoted from one level to the next higher one.' }),
    approvers,
    approval_scheme: approvalScheme,
    direct_releases: Type.Boolean({
      description: 'False: takes only releases that are promoted from a lower level, where there is one.',
    }),
    created_at: time,
    updated_at: time,
    updated_by: nullableText,
  },
  { $id: 'Environment', description: 'A named target of releases, such as `production`.' },
);
export type Environment = Static<typeof Environment>;

export const EnvironmentList = Type.Object(
  { data: Type.Array(Environment), next_cursor: Type.Null() },
  { $id: 'EnvironmentList', description: 'Every environment, from the lowest level up; at most 100.' },
);

export const SaveEnvironmentRequest = Type.Object(
  {
    slug: environmentSlug,
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Default of a new one: the slug.' })),
    level: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 1 })),
    approvers: Type.Optional(
      Type.Array(Type.String({ pattern: '^(role|key):.+$', maxLength: 300 }), { maxItems: 100, uniqueItems: true }),
    ),
    approval_scheme: Type.Optional(approvalScheme),
    direct_releases: Type.Optional(Type.Boolean({ default: true })),
  },
  {
    $id: 'SaveEnvironmentRequest',
    additionalProperties: false,
    description:
      'A new environment, or the parts of a known one that change: what is left out stays as it is, and takes its default in a new one.',
  },
);
export type SaveEnvironmentRequest = Static<typeof SaveEnvironmentRequest>;

/** `docs/specs/releases.md` says what each means. */
export const releaseStates = ['pending', 'live', 'superseded', 'rolled_back', 'withdrawn', 'cancelled'] as const;

const releaseState = Type.Unsafe<(typeof releaseStates)[number]>({ type: 'string', enum: [...releaseStates] });

export const Release = Type.Object(
  {
    id: uuid,
    rule: Type.Object({ id: uuid, slug: Type.String(), name: Type.String() }),
    version: Type.Integer({ minimum: 1 }),
    version_id: uuid,
    environment: Type.String({ description: 'Slug of the environment.' }),
    level: Type.Integer(),
    state: releaseState,
    approvers,
    approval_scheme: approvalScheme,
    approvals: Type.Array(
      Type.Object({ approved_by: Type.String(), stands_for: Type.Array(Type.String()), approved_at: time }),
    ),
    waiting_for: Type.Array(Type.String(), {
      description: 'While it is pending: of whom one (`any`) or each (`all`) has yet to approve.',
    }),
    source: Type.Unsafe<'direct' | 'promotion' | 'rollback'>({
      type: 'string',
      enum: ['direct', 'promotion', 'rollback'],
    }),
    source_release_id: nullable(uuid),
    previous_release_id: nullable(uuid),
    note: nullableText,
    created_at: time,
    created_by: nullableText,
    live_at: nullable(time),
    ended_at: nullable(time),
    ended_by: nullableText,
  },
  { $id: 'Release', description: 'A published version of a rule on its way into, in, or out of an environment.' },
);
export type Release = Static<typeof Release>;

export const CreateReleaseRequest = Type.Object(
  {
    id: Type.Optional(
      Type.String({ format: 'uuid', description: 'A UUID of your own; sending it again answers the same release.' }),
    ),
    rule: Type.String({ minLength: 1, maxLength: 200, description: 'Slug or id of the rule.' }),
    version: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }), Type.Literal('latest')], {
        description: 'Number of a published version, or `latest`, which is the default and means the one of now.',
      }),
    ),
    environment: Type.String({ minLength: 1, maxLength: 100, description: 'Slug of the environment.' }),
    note: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  { $id: 'CreateReleaseRequest', additionalProperties: false, description: 'What shall go live where.' },
);
export type CreateReleaseRequest = Static<typeof CreateReleaseRequest>;

export const ListReleasesQuery = Type.Object(
  {
    rule: Type.Optional(Type.String({ maxLength: 200, description: 'Slug or id of the rule.' })),
    environment: Type.Optional(Type.String({ maxLength: 100 })),
    state: Type.Optional(releaseState),
    limit: Type.Optional(Type.String({ pattern: '^[0-9]+$', description: '1 to 1000, default 100.' })),
    cursor: Type.Optional(Type.String({ maxLength: 500 })),
  },
  { $id: 'ListReleasesQuery', additionalProperties: false, description: 'Which releases.' },
);

export const ReleasePage = Type.Object(
  { data: Type.Array(Release), next_cursor: nullableText },
  { $id: 'ReleasePage', description: 'One page of releases, newest first.' },
);

export const PromoteReleaseQuery = Type.Object(
  {
    environment: Type.Optional(
      Type.String({ maxLength: 100, description: 'Where to; needed where the next level has several environments.' }),
    ),
  },
  { $id: 'PromoteReleaseQuery', additionalProperties: false, description: 'Where to promote.' },
);

export const CancelReleaseQuery = Type.Object(
  {
    withdraw: Type.Optional(
      Type.Unsafe<'true' | 'false'>({
        type: 'string',
        enum: ['true', 'false'],
        description: '`true`: also where the release is live; then nothing of the rule is live there any more.',
      }),
    ),
  },
  { $id: 'CancelReleaseQuery', additionalProperties: false, description: 'How far to go.' },
);

export const ReconciledReleases = Type.Object(
  {
    reconciled: Type.Integer({ description: 'Pins that were rebuilt.' }),
    rules: Type.Integer({ description: 'Rules that have pins.' }),
  },
  { $id: 'ReconciledReleases', description: 'How much was rebuilt.' },
);
