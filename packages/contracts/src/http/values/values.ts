import { type Static, Type } from '@sinclair/typebox';
import { type AssetKind, assetKinds } from '../../asset-pointer';
import { described } from '../../described';
import { answerSchemas, type RecordOf, type ResourceFields } from '../../resource';

const nullableText = Type.Union([Type.String(), Type.Null()]);
const jsonObject = Type.Record(Type.String(), Type.Unknown());
const userGroups = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100 });

/** Types of values. There is no type for objects, which are written as several values with dotted names. */
const valueTypes = ['string', 'number', 'boolean', 'list', 'function'] as const;
export type ValueType = (typeof valueTypes)[number];

/** Names have dots between their parts, like `limits.credit`. */
export const VALUE_NAME_MAX_LENGTH = 512;

/** Content of a function value: its formula sees its parameters and nothing else. */
export const FunctionContent = Type.Object(
  {
    parameters: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 50,
      description: 'Names of the parameters in their order, at most 50.',
    }),
    formula: Type.String({
      minLength: 1,
      maxLength: 100_000,
      description: 'Formula over the parameters, 1 to 100,000 characters.',
    }),
  },
  {
    $id: 'FunctionContent',
    additionalProperties: false,
    description: 'A formula over named parameters; on write it stands under the one key `$function`.',
  },
);
export type FunctionContent = Static<typeof FunctionContent>;

/** A rule or flow that uses a value, in its draft or in a published version. */
export const AssetUsage = Type.Object(
  {
    type: Type.Unsafe<AssetKind>({ type: 'string', enum: [...assetKinds], description: '`rule` or `flow`.' }),
    id: Type.String({ format: 'uuid', description: 'Id, a UUID.' }),
    name: Type.String({ description: 'Name for people.' }),
    description: described(nullableText, 'Text for people; null if there is none.'),
    slug: Type.String({ description: 'Name in addresses, unique in its workspace.' }),
    published: Type.Boolean({ description: 'Whether a published version is in service.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When it was last changed, ISO 8601 in UTC.' }),
  },
  { $id: 'AssetUsage', description: 'A rule or flow that refers to a value.' },
);
export type AssetUsage = Static<typeof AssetUsage>;

/** The fields of a value. A new field needs a column of the same name that the runtime role may read; `managed_by` is read from objects. */
export const valueFields = {
  id: {
    schema: Type.String({ format: 'uuid', description: 'Id, a UUID.' }),
    example: '0b0f1a52-6a0c-4a51-9d3b-3a6f0d4c7e21',
  },
  name: { schema: Type.String({ description: 'Name; dots stand between its parts.' }), example: 'limits.credit' },
  type: {
    schema: Type.Unsafe<ValueType>({ type: 'string', enum: [...valueTypes], description: 'Type of the value.' }),
    example: 'number',
  },
  content: {
    schema: Type.Unknown({ description: 'For a function its parameters and formula.' }),
    answeredAs: 'value',
    example: 5000,
  },
  user_groups: {
    schema: Type.Array(Type.String(), {
      description: 'Names of the user groups that see it. Empty: every key of the workspace does.',
    }),
    example: [],
  },
  metadata: {
    schema: described(jsonObject, 'Any JSON object; kept, and of no meaning to the service.'),
    example: {},
  },
  archived_at: {
    schema: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When it was archived; null if it is active.',
    }),
    example: null,
  },
  managed_by: {
    schema: Type.Union(
      [
        Type.Object({
          id: Type.String({ format: 'uuid', description: 'Id of the object.' }),
          name: Type.String({ description: 'Name of the object.' }),
        }),
        Type.Null(),
      ],
      {
        description: 'The object that generates the value, and alone may change it.',
      },
    ),
    example: null,
  },
  refers_to: {
    schema: Type.Array(Type.String(), { description: 'Ids of the values to which the list refers.' }),
    answered: false,
    example: [],
  },
  created_at: {
    schema: Type.String({ format: 'date-time', description: 'When it was made, ISO 8601 in UTC.' }),
    example: '2026-01-15T09:30:00.000Z',
  },
  updated_at: {
    schema: Type.String({ format: 'date-time', description: 'When it was last changed, ISO 8601 in UTC.' }),
    example: '2026-01-15T09:30:00.000Z',
  },
} as const satisfies ResourceFields;

/** A value of the workspace. Times are ISO 8601 UTC with milliseconds. */
export type ValueRecord = RecordOf<typeof valueFields>;

export const ListedValue = Type.Object(
  {
    ...answerSchemas(valueFields),
    usages: Type.Optional(
      Type.Array(AssetUsage, { description: 'Rules and flows that refer to the value; with `include=usage`.' }),
    ),
  },
  { $id: 'ListedValue', description: 'A value of the workspace, to which rules refer.' },
);
export type ListedValue = Static<typeof ListedValue>;

export const ListValuesQuery = Type.Object(
  {
    name: Type.Optional(Type.String({ description: 'Exact name.' })),
    prefix: Type.Optional(Type.String({ description: 'Beginning of the name.', maxLength: VALUE_NAME_MAX_LENGTH })),
    type: Type.Optional(
      Type.Unsafe<ValueType>({ type: 'string', enum: [...valueTypes], description: 'Only values of this type.' }),
    ),
    user_group: Type.Optional(Type.String({ description: 'Only values that carry this group.' })),
    include: Type.Optional(
      Type.String({
        pattern: '^(usage|archived)(,(usage|archived))?$',
        description: '`usage` adds the rules and flows that use each value, `archived` shows archived values too.',
      }),
    ),
    resolve: Type.Optional(
      Type.Unsafe<'true' | 'false'>({
        type: 'string',
        enum: ['true', 'false'],
        description: 'Replaces references in lists by their content, as far as the key may see it.',
      }),
    ),
    limit: Type.Optional(
      Type.String({ pattern: '^[0-9]+$', description: '1 to 1000, default 100. Switches to the paged form.' }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 500, description: 'Where the previous page ended. Switches to the paged form.' }),
    ),
  },
  { $id: 'ListValuesQuery', additionalProperties: false, description: 'Filters of the list of values.' },
);
export type ListValuesQuery = Static<typeof ListValuesQuery>;

const ValuePage = Type.Object(
  {
    data: Type.Array(ListedValue, { description: 'The entries of this page.' }),
    next_cursor: described(nullableText, 'Give it as `cursor` to read the next page; null on the last page.'),
  },
  { $id: 'ValuePage', description: 'One page of values; `next_cursor` is null on the last.' },
);

export const ListValuesAnswer = Type.Union([Type.Array(ListedValue), ValuePage], {
  $id: 'ListValuesAnswer',
  description: 'All values, or one page of them.',
});
export type ListValuesAnswer = Static<typeof ListValuesAnswer>;

export const WriteValuesRequest = Type.Object(
  {
    values: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Values by name. Nested objects become dotted names; `{"$function": {...}}` is a function.',
    }),
    user_groups: Type.Optional(
      described(
        userGroups,
        'Names of the user groups that see it, at most 100. A key that is restricted to groups gives its own alone.',
      ),
    ),
    metadata_by_name: Type.Optional(
      Type.Record(Type.String(), jsonObject, { description: 'Metadata by the name of the value: any JSON object.' }),
    ),
  },
  { $id: 'WriteValuesRequest', additionalProperties: false, description: 'Values to create or change.' },
);
export type WriteValuesRequest = Static<typeof WriteValuesRequest>;

const WrittenValuesSummary = Type.Object(
  {
    created: Type.Integer({ description: 'Values that are new.' }),
    updated: Type.Integer({ description: 'Values that were known.' }),
    processed: Type.Integer({ description: 'Values that were written in all.' }),
  },
  { $id: 'WrittenValuesSummary', description: 'Counts, where more than 1,000 values were written.' },
);

/** Maximum number of written values listed in the answer; a larger number is answered with counts only. */
export const MAX_ANSWERED_VALUES = 1_000;

export const WriteValuesAnswer = Type.Union([Type.Array(ListedValue), WrittenValuesSummary], {
  $id: 'WriteValuesAnswer',
  description: 'The written values as they now are, or their counts.',
});
export type WriteValuesAnswer = Static<typeof WriteValuesAnswer>;

export const SyncValuesRequest = Type.Object(
  {
    collection: Type.String({
      minLength: 1,
      maxLength: VALUE_NAME_MAX_LENGTH,
      description: 'Its members are the values whose names begin with it and a dot.',
    }),
    values: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Members by name, without the name of the collection.',
      }),
    ),
    sync_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Ties the chunks of one run together. Without it the request is the whole collection.',
      }),
    ),
    complete: Type.Optional(
      Type.Boolean({ description: 'The last chunk: what no chunk brought goes. Default: true without a `sync_id`.' }),
    ),
    permanently_delete: Type.Optional(
      Type.Boolean({ description: 'Absent members are deleted, not archived, unless something uses them.' }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: 'Answers what would happen; nothing is written.' })),
    user_groups: Type.Optional(
      described(
        userGroups,
        'Names of the user groups that see it, at most 100. A key that is restricted to groups gives its own alone.',
      ),
    ),
    metadata_by_name: Type.Optional(
      Type.Record(Type.String(), jsonObject, { description: 'By the names that `values` has.' }),
    ),
  },
  {
    $id: 'SyncValuesRequest',
    additionalProperties: false,
    description: 'What a collection is to hold, or a part of it.',
  },
);
export type SyncValuesRequest = Static<typeof SyncValuesRequest>;

export const SyncValuesAnswer = Type.Object(
  {
    collection: Type.String({ description: 'Name of the collection.' }),
    sync_id: Type.Optional(
      Type.String({ description: 'The run that the request belongs to; absent if it is the whole collection.' }),
    ),
    already_completed: Type.Boolean({ description: 'The run was completed before; this request changed nothing.' }),
    dry_run: Type.Boolean({ description: 'Whether nothing was written.' }),
    swept: Type.Boolean({ description: 'Whether absent members were archived or deleted.' }),
    created: Type.Integer({ description: 'Members that are new.' }),
    updated: Type.Integer({ description: 'Changed or revived.' }),
    unchanged: Type.Integer({ description: 'Members that were the same.' }),
    processed: Type.Integer({
      description: 'Values in this request: created, updated, unchanged and errors together.',
    }),
    archived: Type.Integer({ description: 'Absent members that were archived.' }),
    deleted: Type.Integer({ description: 'Absent members that were deleted.' }),
    blocked: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of the value.' }),
        name: Type.String({ description: 'Name of the value.' }),
        reason: Type.String({ description: 'What uses it, in a sentence.' }),
        action: Type.Unsafe<'archived'>({
          type: 'string',
          enum: ['archived'],
          description: 'What was done instead: always `archived`.',
        }),
      }),
      { description: 'Members that something uses: archived, though they were to be deleted.' },
    ),
    errors: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name of the member.' }),
        error: Type.String({ description: 'What went wrong, in a sentence.' }),
      }),
      {
        description: 'Members that cannot be stored as given; existing values of these names stay as they are.',
      },
    ),
  },
  { $id: 'SyncValuesAnswer', description: 'The changes of a collection.' },
);
export type SyncValuesAnswer = Static<typeof SyncValuesAnswer>;

export const UpdateValueRequest = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: VALUE_NAME_MAX_LENGTH,
        description: 'New name, 1 to 512 characters; dots stand between its parts. Default: it stays.',
      }),
    ),
    value: Type.Optional(
      Type.Unknown({
        description: 'New content: text, number, boolean, list, or `{"$function": {...}}`. Default: it stays.',
      }),
    ),
    user_groups: Type.Optional(
      described(
        userGroups,
        'Names of the user groups that see it, at most 100. A key that is restricted to groups gives its own alone. Default: they stay.',
      ),
    ),
    metadata: Type.Optional(described(jsonObject, 'Any JSON object; it replaces what was there. Default: it stays.')),
    archived: Type.Optional(
      Type.Boolean({ description: 'Archived values are not offered for new references; rules that use them go on.' }),
    ),
  },
  { $id: 'UpdateValueRequest', additionalProperties: false, description: 'What changes of a value.' },
);
export type UpdateValueRequest = Static<typeof UpdateValueRequest>;

export const DeleteValueQuery = Type.Object(
  { id: Type.String({ format: 'uuid', description: 'Id of the value, a UUID.' }) },
  { $id: 'DeleteValueQuery', additionalProperties: false, description: 'Which value to delete.' },
);

export const DeletedValue = Type.Object(
  {
    message: Type.String({ description: 'What was done, in a sentence.' }),
    updated_list_values: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of the list.' }),
        name: Type.String({ description: 'Name of the list.' }),
      }),
      { description: 'Lists in which its content took the place of a reference to it.' },
    ),
  },
  { $id: 'DeletedValue', description: 'What was deleted.' },
);
export type DeletedValue = Static<typeof DeletedValue>;
