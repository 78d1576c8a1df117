import { Type } from '@sinclair/typebox';
import { nullable } from '../page-schema';
import { type RecordOf } from '../resource';
import { LoggingSettings } from '../rules/logging-settings';
import { defaultValues, optionalSetting, requiredSetting } from '../settings';
import { ContextSchema } from './context-schema';
import { contextLimits, type SchemaMismatchPolicy, schemaMismatchPolicies } from './context-words';

const mismatchPolicy = Type.Unsafe<SchemaMismatchPolicy>({ type: 'string', enum: [...schemaMismatchPolicies] });

/** Settings that apply to instances: evaluations read them, and messages carry them to workers. */
export const definitionSettings = {
  schema: requiredSetting({
    schema: ContextSchema,
    request: ContextSchema,
    requestDescription: 'The facts of a context, as many as a request body can hold.',
    answerDescription: 'The facts of a context, as many as a request body can hold.',
    example: {
      base: [
        { key: 'order_id', type: 'string' },
        { key: 'total', type: 'number', required: true },
        { key: 'customer_id', type: 'string' },
      ],
      derived: [{ key: 'net', expression: 'total / 1.2' }],
    },
    column: 'json',
  }),
  identity_fact: requiredSetting({
    schema: Type.String(),
    request: Type.String({ minLength: 1, maxLength: contextLimits.factNameLength }),
    requestDescription: 'The base fact, a string or number, that names an instance.',
    answerDescription: 'The base fact that names an instance.',
    example: 'order_id',
    column: 'text',
  }),
  auto_execute_decisions: optionalSetting({
    schema: Type.Boolean(),
    request: Type.Boolean(),
    whenAbsent: true,
    requestDescription: 'False: submissions merge facts and start nothing new.',
    answerDescription: 'Whether submissions run bound assets. False: they merge facts and start nothing new.',
    example: true,
    column: 'boolean',
  }),
  ttl_seconds: optionalSetting({
    schema: nullable(Type.Integer()),
    request: Type.Union([
      Type.Integer({ minimum: contextLimits.ttlLeastSeconds, maximum: contextLimits.ttlMostSeconds }),
      Type.Null({ description: 'Instances never expire.' }),
    ]),
    whenAbsent: null,
    requestDescription: 'Seconds after its last write at which an instance expires. Default: never.',
    answerDescription: 'Seconds after its last write at which an instance expires; null: never.',
    example: null,
    column: 'integer',
  }),
  history_limit: optionalSetting({
    schema: Type.Integer(),
    request: Type.Integer({ minimum: 1, maximum: contextLimits.historyMost }),
    whenAbsent: 100,
    requestDescription:
      'Entries of history that are kept for each tracked fact of an instance, 1 to 10,000. Default 100.',
    answerDescription: 'Entries of history that are kept for each tracked fact of an instance.',
    example: 100,
    column: 'integer',
  }),
  on_schema_mismatch: optionalSetting({
    schema: mismatchPolicy,
    request: mismatchPolicy,
    whenAbsent: 'ignore',
    requestDescription:
      'How facts are handled that the schema does not declare or whose type differs: `ignore`, the default, leaves them out, `reject` refuses the record, `store` keeps facts that are not declared and refuses the record for any other.',
    answerDescription:
      'How facts are handled that the schema does not declare or whose type differs: `ignore` leaves them out, `reject` refuses the record, `store` keeps facts that are not declared and refuses the record for any other.',
    example: 'ignore',
    column: 'text',
  }),
};

/** Every setting of a context; its groups and its folder are separate, as for every resource. */
export const contextSettings = {
  name: requiredSetting({
    schema: Type.String(),
    request: Type.String({ minLength: 1, maxLength: 500 }),
    requestDescription: 'Name for people, 1 to 500 characters.',
    answerDescription: 'Name for people.',
    example: 'Orders',
    column: 'text',
  }),
  description: optionalSetting({
    schema: nullable(Type.String()),
    request: nullable(Type.String({ maxLength: 100_000 })),
    whenAbsent: null,
    requestDescription: 'Text for people, at most 100,000 characters; null for none.',
    answerDescription: 'Text for people; null if there is none.',
    example: null,
    column: 'text',
  }),
  ...definitionSettings,
  logging: optionalSetting({
    schema: nullable(LoggingSettings),
    request: nullable(LoggingSettings),
    whenAbsent: null,
    requestDescription:
      'What is logged of decisions that run within operations on instances, beside what the rule or flow itself says: the stricter counts, from a minute later on. Null: what the rule or flow says.',
    answerDescription:
      'What is logged of decisions that run within operations on instances; null: what the rule or flow itself says.',
    example: null,
    column: 'json',
  }),
  source_objects: optionalSetting({
    schema: Type.Array(Type.String()),
    request: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 }),
    whenAbsent: [],
    requestDescription:
      'Objects that the facts were taken over from, at most 100; kept, and of no meaning to the service.',
    answerDescription: 'Objects that the facts were taken over from; kept, and of no meaning to the service.',
    example: [],
    column: 'text[]',
  }),
};

/** Settings of a context in records. */
export type ContextSettingValues = RecordOf<typeof contextSettings>;
/** Settings that evaluations read, in definitions and messages. */
export type DefinitionValues = RecordOf<typeof definitionSettings>;

export const definitionDefaults = defaultValues(definitionSettings);
