import { type Static, type TString, Type } from '@sinclair/typebox';
import { type AssetKind, assetKinds } from '../../asset-pointer';
import { described } from '../../described';
import { answerSchemas, type RecordOf, type ResourceFields } from '../../resource';

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
  description: '`role:<name>`, `key:<id>` or `user:<id>`. Empty: releases go live without approval.',
});

/** A name in a solve address: never `latest`, never a number. */
const environmentSlug = Type.String({ pattern: '^(?!latest$)[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$', maxLength: 100 });

/** The fields of an environment. A new field needs a column of the same name that the runtime role may read. */
export const environmentFields = {
  id: { schema: described(uuid, 'Id, a UUID.'), example: '0d7c2c7e-5d0c-4a35-9f9b-6f1c2a4f7d10' },
  slug: { schema: Type.String({ description: 'Name in solve addresses.' }), example: 'production' },
  name: { schema: Type.String({ description: 'Name for people.' }), example: 'Production' },
  level: {
    schema: Type.Integer({ description: 'Releases are promoted from one level to the next higher one.' }),
    example: 2,
  },
  approvers: { schema: approvers, example: ['role:admin'] },
  approval_scheme: { schema: approvalScheme, example: 'any' },
  direct_releases: {
    schema: Type.Boolean({
      description: 'False: takes only releases that are promoted from a lower level, where there is one.',
    }),
    example: false,
  },
  created_at: { schema: described(time, 'When it was made, ISO 8601 in UTC.'), example: '2026-01-15T09:30:00.000Z' },
  updated_at: {
    schema: described(time, 'When it was last changed, ISO 8601 in UTC.'),
    example: '2026-01-15T09:30:00.000Z',
  },
  updated_by: {
    schema: described(nullableText, 'The API key that changed it last; null if it is not known.'),
    example: null,
  },
} as const satisfies ResourceFields;

export type EnvironmentRecord = RecordOf<typeof environmentFields>;

export const Environment = Type.Object(answerSchemas(environmentFields), {
  $id: 'Environment',
  description: 'A named target of releases, such as `production`.',
});
export type Environment = Static<typeof Environment>;

export const EnvironmentList = Type.Object(
  {
    data: Type.Array(Environment, { description: 'The entries of this page.' }),
    next_cursor: Type.Null({ description: 'Always null: there is one page.' }),
  },
  { $id: 'EnvironmentList', description: 'Every environment, from the lowest level up; at most 100.' },
);

export const SaveEnvironmentRequest = Type.Object(
  {
    slug: described(
      environmentSlug,
      'Name in solve addresses, at most 100 characters; never `latest`, never a number.',
    ),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Default of a new one: the slug.' })),
    level: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 1,
        description: 'Releases are promoted from one level to the next higher one. 1 to 1000, default 1.',
      }),
    ),
    approvers: Type.Optional(
      Type.Array(Type.String({ pattern: '^(role|key):.+$', maxLength: 300 }), {
        maxItems: 100,
        uniqueItems: true,
        description:
          'Who approves releases: `role:<name>`, `key:<id>` or `user:<id>`, at most 100. Empty: releases go live without approval.',
      }),
    ),
    approval_scheme: Type.Optional(approvalScheme),
    direct_releases: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'False: takes only releases that are promoted from a lower level, where there is one. Default true.',
      }),
    ),
  },
  {
    $id: 'SaveEnvironmentRequest',
    additionalProperties: false,
    description:
      'A new environment, or the fields of an existing one that change. Fields that are left out keep their value, or get their default in a new one.',
  },
);
export type SaveEnvironmentRequest = Static<typeof SaveEnvironmentRequest>;

/** `docs/specs/releases.md` defines each of them. */
const releaseStates = ['pending', 'live', 'superseded', 'rolled_back', 'withdrawn', 'cancelled'] as const;

const releaseState = Type.Unsafe<(typeof releaseStates)[number]>({ type: 'string', enum: [...releaseStates] });

const releasedAsset = {
  id: described(uuid, 'Id, a UUID.'),
  slug: Type.String({ description: 'Name in solve addresses.' }),
  name: Type.String({ description: 'Name for people.' }),
};

const asset = Type.Object({
  kind: Type.Unsafe<AssetKind>({ type: 'string', enum: [...assetKinds] }),
  ...releasedAsset,
});
const environmentOfRelease = Type.Object({ id: uuid, slug: Type.String(), level: Type.Integer() });

/** An approval; in records its members have names in camel case. */
const Approval = Type.Object({
  approved_by: Type.String({ description: 'The API key that approved.' }),
  stands_for: Type.Array(Type.String(), {
    description: 'Approvers as which the key counts: `role:<name>`, `key:<id>` or `user:<id>`.',
  }),
  approved_at: described(time, 'When it approved, ISO 8601 in UTC.'),
});

/**
 * The fields of a release. A new field needs a column of the same name that the runtime role may read; the asset, the environment, the version
 * and the approvals are read from separate tables, and answers have a separate form for asset and environment.
 */
export const releaseFields = {
  id: { schema: described(uuid, 'Id, a UUID.'), example: '7b1f5c7e-0f0e-4f0a-8d3e-2b0a9f6c4e21' },
  asset: {
    schema: asset,
    answered: false,
    example: { id: '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11', slug: 'parcel-price', name: 'Parcel price' },
  },
  version: { schema: Type.Integer({ minimum: 1, description: 'Number of the released version, from 1.' }), example: 3 },
  version_id: {
    schema: described(uuid, 'Id of the released version, a UUID.'),
    example: 'a3f1a1de-6a0f-4b53-9a44-0b5a3c4de955',
  },
  environment: { schema: environmentOfRelease, answered: false, example: { slug: 'production', level: 2 } },
  state: {
    schema: described(
      releaseState,
      '`pending` waits for approval, `live` is solved, `superseded`, `rolled_back` and `withdrawn` were live, `cancelled` never was.',
    ),
    example: 'pending',
  },
  /** As configured in the environment when the release was created. */
  approvers: { schema: approvers, example: ['role:admin'] },
  approval_scheme: { schema: approvalScheme, example: 'any' },
  /** In order of arrival. */
  approvals: { schema: Type.Array(Approval, { description: 'Approvals so far.' }), example: [] },
  source: {
    schema: Type.Unsafe<'direct' | 'promotion' | 'rollback'>({
      type: 'string',
      enum: ['direct', 'promotion', 'rollback'],
      description:
        'How it was made: by request (`direct`), from a lower level (`promotion`), or back to an earlier one (`rollback`).',
    }),
    example: 'promotion',
  },
  source_release_id: {
    schema: described(nullable(uuid), 'Id of the release that was promoted or rolled back to; null if there is none.'),
    example: 'c1d7a0a8-2d3f-4a39-8a5f-7d0f6a1b2c3d',
  },
  previous_release_id: {
    schema: described(nullable(uuid), 'Id of the release that was live before it; null if there is none.'),
    example: null,
  },
  note: {
    schema: described(nullableText, 'Why it is released, as given; null if nothing was said.'),
    example: null,
  },
  created_at: { schema: described(time, 'When it was made, ISO 8601 in UTC.'), example: '2026-01-15T09:30:00.000Z' },
  created_by: {
    schema: described(nullableText, 'The API key that asked for it; null if it is not known.'),
    example: null,
  },
  live_at: { schema: described(nullable(time), 'When it went live; null: it has not.'), example: null },
  ended_at: { schema: described(nullable(time), 'When it ended; null: it has not.'), example: null },
  ended_by: {
    schema: described(nullableText, 'The API key that ended it; null if it has not ended or another release ended it.'),
    example: null,
  },
} as const satisfies ResourceFields;

/** An approval as services handle it. */
interface ReleaseApproval {
  readonly approvedBy: string;
  /** The approvers of the release that it represents. */
  readonly standsFor: readonly string[];
  readonly approvedAt: string;
}

/** One version of a rule or flow that is entering, in, or leaving an environment. Times are ISO 8601 UTC with milliseconds. */
export type ReleaseRecord = Omit<RecordOf<typeof releaseFields>, 'approvals'> & {
  readonly approvals: readonly ReleaseApproval[];
};

export const Release = Type.Object(
  {
    ...answerSchemas(releaseFields),
    rule: Type.Optional(
      Type.Object(releasedAsset, { description: 'The rule that is released; absent if it is a flow.' }),
    ),
    flow: Type.Optional(
      Type.Object(releasedAsset, { description: 'The flow that is released; absent if it is a rule.' }),
    ),
    environment: Type.String({ description: 'Slug of the environment.' }),
    level: Type.Integer({ description: 'Level of the environment.' }),
    waiting_for: Type.Array(Type.String(), {
      description: 'While it is pending: approvers of whom one (`any`) or each (`all`) still has to approve.',
    }),
  },
  {
    $id: 'Release',
    description: 'A published version of a rule or flow on its way into, in, or out of an environment.',
  },
);
export type Release = Static<typeof Release>;

export const CreateReleaseRequest = Type.Object(
  {
    id: Type.Optional(
      Type.String({ format: 'uuid', description: 'A UUID of your own; sending it again answers the same release.' }),
    ),
    rule: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Slug or id of the rule that is released; either this or `flow` must be given.',
      }),
    ),
    flow: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Slug or id of the flow that is released.' }),
    ),
    version: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }), Type.Literal('latest')], {
        description: 'Number of a published version, or `latest`, which is the default and means the one of now.',
      }),
    ),
    environment: Type.String({ minLength: 1, maxLength: 100, description: 'Slug of the environment.' }),
    note: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'Why it is released, at most 2,000 characters.' }),
    ),
  },
  { $id: 'CreateReleaseRequest', additionalProperties: false, description: 'What shall go live where.' },
);
export type CreateReleaseRequest = Static<typeof CreateReleaseRequest>;

export const ListReleasesQuery = Type.Object(
  {
    rule: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Only releases of the rule of this slug or id, at most 200 characters.',
      }),
    ),
    flow: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Only releases of the flow of this slug or id, at most 200 characters.',
      }),
    ),
    environment: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Only releases into the environment of this slug, at most 100 characters.',
      }),
    ),
    state: Type.Optional(described(releaseState, 'Only releases in this state.')),
    limit: Type.Optional(Type.String({ pattern: '^[0-9]+$', description: '1 to 1000, default 100.' })),
    cursor: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'The `next_cursor` of the page before, at most 500 characters. Default: the first page.',
      }),
    ),
  },
  { $id: 'ListReleasesQuery', additionalProperties: false, description: 'Which releases.' },
);

export const ReleasePage = Type.Object(
  {
    data: Type.Array(Release, { description: 'The entries of this page.' }),
    next_cursor: described(nullableText, 'Give it as `cursor` to read the next page; null on the last page.'),
  },
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
        description: '`true`: even if the release is live; then no version of the rule or flow is live there any more.',
      }),
    ),
  },
  { $id: 'CancelReleaseQuery', additionalProperties: false, description: 'How far to go.' },
);

export const ReconciledReleases = Type.Object(
  {
    reconciled: Type.Integer({ description: 'Pins that were rebuilt.' }),
    rules: Type.Integer({ description: 'Rules that have pins.' }),
    flows: Type.Integer({ description: 'Flows that have pins.' }),
  },
  { $id: 'ReconciledReleases', description: 'How much was rebuilt.' },
);
export type ReconciledReleases = Static<typeof ReconciledReleases>;
