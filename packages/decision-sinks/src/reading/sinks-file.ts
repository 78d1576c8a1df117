import { type Static, Type } from '@sinclair/typebox';
import { compileValidator } from '@decision/contracts';

const name = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,39}$' });
/** `request.customer.ssn`, or a list of names if one contains a dot. */
const path = Type.Union([
  Type.String({ minLength: 1, maxLength: 1_000 }),
  Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { minItems: 1, maxItems: 20 }),
]);
const paths = Type.Array(path, { maxItems: 200 });
const secretFile = Type.Object(
  { file: Type.String({ minLength: 1, maxLength: 4_096 }) },
  { additionalProperties: false },
);
const texts = (pattern: string) => Type.Array(Type.String({ pattern }), { minItems: 1, maxItems: 1_000 });
const within = (minimum: number, maximum: number) => Type.Optional(Type.Integer({ minimum, maximum }));

const common = {
  name,
  filter: Type.Optional(
    Type.Object(
      {
        assets: Type.Optional(texts('^(rule:|flow:)?[^:]{1,512}$')),
        workspaces: Type.Optional(texts('^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$')),
        statuses: Type.Optional(texts('^[1-5]([0-9]{2}|xx)$')),
        sample_rate: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
      },
      { additionalProperties: false },
    ),
  ),
  fields: Type.Optional(
    Type.Object({ only: Type.Optional(paths), without: Type.Optional(paths) }, { additionalProperties: false }),
  ),
  batch: Type.Optional(
    Type.Object({ records: within(1, 10_000), bytes: within(1_024, 67_108_864) }, { additionalProperties: false }),
  ),
  timeout_ms: within(100, 300_000),
  retry: Type.Optional(
    Type.Object(
      {
        initial_ms: within(10, 60_000),
        max_ms: within(10, 3_600_000),
        attempts: within(1, 1_000),
        give_up_after_ms: within(0, 2_592_000_000),
      },
      { additionalProperties: false },
    ),
  ),
};
const web = {
  ...common,
  url: Type.String({ minLength: 1, maxLength: 4_096 }),
  headers: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String({ maxLength: 8_192 }), secretFile]))),
};
const closed = { additionalProperties: false };

const HttpSink = Type.Object({ ...web, kind: Type.Literal('http'), signing_key: Type.Optional(secretFile) }, closed);
const RowsSink = Type.Object(
  {
    ...web,
    kind: Type.Literal('json-rows'),
    table: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}([.][A-Za-z_][A-Za-z0-9_]{0,99})?$' }),
  },
  closed,
);
const IndexSink = Type.Object(
  {
    ...web,
    kind: Type.Literal('bulk-index'),
    index: Type.String({ pattern: '^[a-z0-9]([a-z0-9._-]|[{]date[}]){0,199}$' }),
    action: Type.Optional(Type.Unsafe<'create' | 'index'>({ type: 'string', enum: ['create', 'index'] })),
  },
  closed,
);
const OtlpSink = Type.Object(
  {
    ...web,
    kind: Type.Literal('otlp'),
    resource: Type.Optional(Type.Record(Type.String({ minLength: 1 }), Type.String({ maxLength: 1_000 }))),
  },
  closed,
);
const KafkaSink = Type.Object(
  { ...common, kind: Type.Literal('kafka'), topic: Type.String({ pattern: '^[A-Za-z0-9._-]{1,249}$' }) },
  closed,
);

export type WrittenWebSink =
  Static<typeof HttpSink> | Static<typeof RowsSink> | Static<typeof IndexSink> | Static<typeof OtlpSink>;
/** A sink as written in the file. */
export type WrittenSink = WrittenWebSink | Static<typeof KafkaSink>;
export type WrittenPath = Static<typeof path>;
export type SecretFile = Static<typeof secretFile>;

/** The schema of each kind of sink. */
export const sinkChecks = {
  http: compileValidator(HttpSink),
  'json-rows': compileValidator(RowsSink),
  'bulk-index': compileValidator(IndexSink),
  otlp: compileValidator(OtlpSink),
  kafka: compileValidator(KafkaSink),
} as const;

/** Maximum number of sinks in a file: each has its own consumer and buffers. */
const MOST_SINKS = 20;

/** The file, with its list of sinks. */
export const checkSinksFile = compileValidator(
  Type.Object({ sinks: Type.Array(Type.Unknown(), { maxItems: MOST_SINKS }) }, closed),
);
