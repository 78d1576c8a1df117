import { type Static, Type } from '@sinclair/typebox';
import { type AssetKind, assetKinds } from '../asset-pointer';
import { described } from '../described';
import { timeParameter, timestamp } from '../page-schema';
import { DecisionLogEntry } from './decision-log-entry';
import { LINES_MEDIA_TYPE, type Operation } from './operation';

const freshUntil = Type.Optional(
  Type.Union([Type.String(), Type.Null()], {
    description:
      'If decisions are kept only in the archive: decisions made before this moment are found, later ones may not be in an object yet. Null while this is not known, shortly after a start.',
  }),
);

const DecisionLogPage = Type.Object(
  {
    data: Type.Optional(
      Type.Array(DecisionLogEntry, {
        description: 'The decisions of this page; absent if only their number was asked for.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({ description: 'Give it as `cursor` to read the next page; absent on the last page.' }),
    ),
    count: Type.Optional(
      Type.Integer({ minimum: 0, description: 'How many decisions there are, where that was asked for.' }),
    ),
    fresh_until: freshUntil,
  },
  { $id: 'DecisionLogPage', description: 'Decisions, or their number.' },
);

const yesOrNo = (description: string) =>
  Type.Optional(
    Type.Unsafe<'true' | 'false'>({ type: 'string', enum: ['true', 'false'], description, examples: ['true'] }),
  );
const names = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 4_096, description, examples: [example] }));
const search = (description: string, example: string) =>
  Type.Optional(Type.String({ description, examples: [example] }));

const filterParameters = {
  search: search(
    'Comparisons (`=`, `!=`, `>`, `>=`, `<`, `<=`, contains `:`, does not contain `!:`) and words, joined by AND, OR and parentheses. Fields are `name`, `type`, `selector`, `status`, `error`, `duration` (ms), `trace_id`, `execution_id`, `request_id`, `key_id`, `context`, `instance`, `flow`, and paths below `request.` and `response.`. A UUID or 32 hexadecimal digits are an execution, trace or request.',
    'request.order.total > 100 AND response.tier = "gold"',
  ),
  rules: names('Slugs or ids of rules, separated by commas.', 'shipping-price'),
  flows: names('Slugs or ids of flows, separated by commas. With `rules`, decisions of either.', 'loan-application'),
  contexts: names('Slugs of contexts: runs within operations on their instances. Separated by commas.', 'customer'),
  trace: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{32}$',
      description: 'Id of a trace.',
      examples: ['4bf92f3577b34da6a3ce929d0e0e4736'],
    }),
  ),
  statuses: Type.Optional(
    Type.String({
      pattern: '^[1-5][0-9]{2}(,[1-5][0-9]{2}){0,49}$',
      description: 'HTTP statuses, separated by commas; of a list, items with them.',
      examples: ['422,500'],
    }),
  ),
  start: Type.Optional(timeParameter('Decisions from this moment on.', '2026-01-01T00:00:00Z')),
  end: Type.Optional(timeParameter('Decisions before this moment.', '2026-02-01T00:00:00Z')),
};

const QueryDecisionsQuery = Type.Object(
  {
    ...filterParameters,
    include_traces: yesOrNo('Whether `path_trace` of flows is answered. Default false.'),
    item_filter: search(
      'A search that each item must fulfil to be shown; of a list the others are left out.',
      'status >= 400',
    ),
    sort: Type.Optional(
      Type.Unsafe<'time' | 'name' | 'status' | 'type'>({
        type: 'string',
        enum: ['time', 'name', 'status', 'type'],
        description: 'What decisions are sorted by, and then by time. Default time.',
        examples: ['time'],
      }),
    ),
    order: Type.Optional(
      Type.Unsafe<'asc' | 'desc'>({
        type: 'string',
        enum: ['asc', 'desc'],
        description: 'Default desc.',
        examples: ['desc'],
      }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 1_000, description: 'The `cursor` of the page before, with the same filters.' }),
    ),
    limit: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,9}$', description: '1 to 1000, default 100.', examples: ['50'] }),
    ),
    count: yesOrNo('Whether the number of decisions is answered in their place. Default false.'),
  },
  {
    $id: 'QueryDecisionsQuery',
    additionalProperties: false,
    description: 'Which decisions, in which order, and which page of them.',
  },
);
export type QueryDecisionsQuery = Static<typeof QueryDecisionsQuery>;

const example = {
  id: '019bc1a7-5a20-84f1-a0c3-9d3b7e21c055',
  timestamp: '2026-01-15T09:30:00.032Z',
  name: 'shipping-price',
  endpoint: '/api/v1/solve/shipping-price/latest',
  status: 200,
  request: { weight: 12 },
  response: { price: 9.5 },
  decision: {
    type: 'rule' as const,
    asset_id: '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11',
    selector: 'latest',
    version_id: '8f3f6c0a-2f1a-4d8b-9a39-3f1b9a1f2c10',
    request_id: '0b0e6a4a-0c5e-4f5f-9d5b-3f0f5f4f3c11',
    key_id: '2b8f8a0e-58a6-4f0c-9df0-6c3f9f0f7b21',
    items: [{ index: 0, status: 200, duration_ms: 0.081, matched: [2] }],
  },
  trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
  abbreviated: false,
};

const shared = { service: 'log-collector', tag: 'Decisions', method: 'get', entitlement: 'decisions.read' } as const;

export const queryDecisions = {
  ...shared,
  id: 'queryDecisions',
  path: '/api/v1/decisions/query',
  pathParameters: [],
  summary: 'Find decisions',
  description:
    'Decisions of the last LOG_TABLE_RETENTION_DAYS, seconds after they were made; with LOG_STORE=archive those of the archive, of at most LOG_QUERY_MAX_DAYS and of the last 24 hours where no time is given. Filters are asked of single inputs: a list is found where one of its inputs passes all of them. A cursor stays valid while decisions arrive. Reading is recorded in the audit.',
  query: QueryDecisionsQuery,
  success: {
    status: 200,
    description: 'Decisions of rules and flows that the key sees.',
    schema: DecisionLogPage,
    example: { data: [example], cursor: 'eyJvIjpbXX0' },
  },
  errors: ['deadline_exceeded', 'overloaded', 'archive_unavailable'],
} as const satisfies Operation;

export const getDecision = {
  ...shared,
  id: 'getDecision',
  path: '/api/v1/decisions/{id}',
  pathParameters: [{ name: 'id', description: 'Id of a decision, as a query answers it.', example: example.id }],
  summary: 'Read one decision, with its trace',
  description: 'The whole decision, of a list all inputs up to 64 MiB of characters. Reading is recorded in the audit.',
  success: { status: 200, description: 'The decision.', schema: DecisionLogEntry, example },
  errors: ['decision_not_found', 'deadline_exceeded', 'overloaded', 'archive_unavailable'],
} as const satisfies Operation;

const SummariseDecisionsQuery = Type.Object(
  {
    ...filterParameters,
    by: Type.Optional(
      Type.String({
        pattern: '^(asset|version|status|time)(,(asset|version|status|time)){0,3}$',
        description:
          'What groups are made by, joined by commas: `asset` (default), `version`, `status`, `time`. Groups of `time` are the latest first, others those with the highest counts.',
        examples: ['asset,status'],
      }),
    ),
    bucket: Type.Optional(
      Type.Unsafe<'minute' | 'hour' | 'day'>({
        type: 'string',
        enum: ['minute', 'hour', 'day'],
        description: 'Length of the groups of `time`, which begin in UTC. Default hour.',
        examples: ['hour'],
      }),
    ),
    limit: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,9}$',
        description: 'Groups at most: 1 to 1000, default 100.',
        examples: ['50'],
      }),
    ),
  },
  {
    $id: 'SummariseDecisionsQuery',
    additionalProperties: false,
    description: 'Which decisions, and how they are grouped.',
  },
);
export type SummariseDecisionsQuery = Static<typeof SummariseDecisionsQuery>;

const sums = {
  count: Type.Integer({
    description:
      'Inputs that were decided or refused. A record that represents several refused requests counts as that many.',
  }),
  errors: Type.Integer({ description: 'Of these, those with a status of 400 or more.' }),
  duration_ms: Type.Union(
    [
      Type.Object(
        {
          p50: Type.Number({ description: 'Half took at most this.' }),
          p90: Type.Number({ description: '90 % took at most this.' }),
          p95: Type.Number({ description: '95 % took at most this.' }),
          p99: Type.Number({ description: '99 % took at most this.' }),
          max: Type.Number({ description: 'All took at most this.' }),
        },
        { $id: 'DecisionDurations', description: 'Milliseconds of evaluation.' },
      ),
      Type.Null(),
    ],
    { description: 'How long evaluation took; null if nothing was evaluated.' },
  ),
};

const DecisionGroupSums = Type.Object(
  {
    type: Type.Optional(
      Type.Unsafe<AssetKind>({ type: 'string', enum: [...assetKinds], description: '`rule` or `flow`.' }),
    ),
    name: Type.Optional(Type.String({ description: 'Slug of the rule or flow.' })),
    asset_id: Type.Optional(
      Type.String({ description: 'Its id; absent if it no longer existed when the record arrived.' }),
    ),
    version_id: Type.Optional(
      Type.String({ description: 'Id of the version; absent if it was refused before one was chosen.' }),
    ),
    status: Type.Optional(Type.Integer({ description: 'HTTP status.' })),
    time: Type.Optional(described(timestamp, 'When the bucket begins, ISO 8601 in UTC.')),
    ...sums,
  },
  { $id: 'DecisionGroupSums', description: 'Sums of one group.' },
);
export type DecisionGroupSums = Static<typeof DecisionGroupSums>;

const MissingDecisions = Type.Object(
  {
    producer: Type.String({ description: 'Name of the process that wrote them.' }),
    from: Type.Integer({ description: 'Number of the first message that is missing.' }),
    count: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'How many messages; each holds the decisions of one request or of a part of it. Null if the process ended without saying how far it had counted: none, or some of its last moments.',
    }),
    after: described(timestamp, 'They were made from this minute on.'),
    before: Type.Union([Type.String(), Type.Null()], {
      description: 'They were made until the end of this minute; null if nothing followed them.',
    }),
  },
  { $id: 'MissingDecisions', description: 'Messages of one process that have not arrived.' },
);

const DecisionSummary = Type.Object(
  {
    start: described(timestamp, 'Decisions from this moment on are counted.'),
    end: described(timestamp, 'Decisions before this moment are counted.'),
    total: Type.Object(sums, { $id: 'DecisionTotal', description: 'Sums of all of them.' }),
    groups: Type.Array(DecisionGroupSums, { description: 'Sums by group.' }),
    is_complete: Type.Boolean({ description: 'Whether all groups are here; otherwise there are more than `limit`.' }),
    fresh_until: freshUntil,
    missing: Type.Optional(
      Type.Array(MissingDecisions, {
        description:
          'Messages that were numbered and have not arrived, of any rule or flow, the newest 1,000. For keys that are not restricted to groups.',
      }),
    ),
    missing_until: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          'Decisions made before this moment have been collected; whether later messages are missing is not known yet. Null while this is not known, shortly after a start. For the same keys.',
      }),
    ),
  },
  { $id: 'DecisionSummary', description: 'Decisions in numbers.' },
);
export type DecisionSummary = Static<typeof DecisionSummary>;

const durations = { p50: 0.08, p90: 0.12, p95: 0.21, p99: 0.9, max: 4.1 };

export const summariseDecisions = {
  ...shared,
  id: 'summariseDecisions',
  path: '/api/v1/decisions/summary',
  pathParameters: [],
  summary: 'Count decisions',
  description:
    'Counts, errors and durations of the inputs that pass the filters, of the last 24 hours where no time is given, and which messages of a process never arrived. Reading is recorded in the audit.',
  query: SummariseDecisionsQuery,
  success: {
    status: 200,
    description: 'Sums of decisions of rules and flows that the key sees.',
    schema: DecisionSummary,
    example: {
      ...{ start: '2026-01-14T09:30:00.000Z', end: '2026-01-15T09:30:00.000Z', is_complete: true, missing: [] },
      missing_until: '2026-01-15T09:27:55.000Z',
      total: { count: 1_200, errors: 3, duration_ms: durations },
      groups: [{ type: 'rule', name: 'shipping-price', count: 1_200, errors: 3, duration_ms: durations }],
    },
  },
  errors: ['deadline_exceeded', 'overloaded', 'archive_unavailable'],
} as const satisfies Operation;

const ExportDecisionsQuery = Type.Object(
  {
    ...filterParameters,
    include_traces: QueryDecisionsQuery.properties.include_traces,
    item_filter: QueryDecisionsQuery.properties.item_filter,
    format: Type.Optional(
      Type.Unsafe<'ndjson' | 'csv' | 'parquet'>({
        type: 'string',
        enum: ['ndjson', 'csv', 'parquet'],
        description:
          '`ndjson` (default): a decision a line, as JSON. `csv`: a decision a row, below a row of names. `parquet`: one file with a row for each input, in columns of the archive.',
        examples: ['ndjson'],
      }),
    ),
  },
  {
    $id: 'ExportDecisionsQuery',
    additionalProperties: false,
    description: 'Which decisions, and how they are written.',
  },
);
export type ExportDecisionsQuery = Static<typeof ExportDecisionsQuery>;

export const exportDecisions = {
  ...shared,
  id: 'exportDecisions',
  path: '/api/v1/decisions/export',
  entitlement: 'decisions.export',
  pathParameters: [],
  summary: 'Export decisions',
  description:
    'All decisions that pass the filters, the oldest first, of the 24 hours before `end` where no `start` is given, and until now where no `end` is given. An export that cannot be finished ends with an error body in its last line and a connection that is cut: beyond 1,000,000 decisions (the error names the `start` of the rest), after ten minutes, or when the database fails. A Parquet file is complete before its first byte is sent: what prevents that is answered as an error, beyond 1 GiB, too, with the moment (`end`) to divide the export at. A process writes four at once, two of them as Parquet. It is recorded in the audit before anything is sent.',
  query: ExportDecisionsQuery,
  success: {
    status: 200,
    description:
      'Decisions of rules and flows that the key sees, one a line; with `format=csv` it is `text/csv`, with `format=parquet` a Parquet file.',
    mediaType: LINES_MEDIA_TYPE,
    otherMediaTypes: ['text/csv', 'application/vnd.apache.parquet'],
    schema: DecisionLogEntry,
    example,
  },
  errors: ['result_too_large', 'deadline_exceeded', 'overloaded', 'archive_unavailable', 'export_failed'],
} as const satisfies Operation;

/** Calls about decisions that were made. */
export const decisionOperations = [queryDecisions, summariseDecisions, exportDecisions, getDecision];
