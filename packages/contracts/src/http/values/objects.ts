import { type Static, Type } from '@sinclair/typebox';
import { described } from '../../described';
import { answerSchemas, type RecordOf, type ResourceField } from '../../resource';

const nullableText = Type.Union([Type.String(), Type.Null()]);
const userGroups = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100 });
const fieldPath = Type.String({ minLength: 1, maxLength: 512 });

/** Maximum content of an object, characters. The limit of request bodies is usually smaller. */
export const OBJECT_CONTENT_MAX_LENGTH = 20 * 1024 * 1024;
export const OBJECT_NAME_MAX_LENGTH = 200;

const objectContentTypes = ['json_schema', 'json_object'] as const;

/** A field parsed from an object's content. Its keys are those that clients know, in both cases. */
export const ParsedField = Type.Object(
  {
    key: Type.String({ description: 'Keys to the field, joined with dots; elements of lists add no part.' }),
    name: Type.String({ description: 'Name for people.' }),
    description: described(nullableText, 'Text from the content; null if there is none.'),
    type: Type.Unsafe<'string' | 'number' | 'boolean' | 'date' | 'list' | 'object'>({
      type: 'string',
      enum: ['string', 'number', 'boolean', 'date', 'list', 'object'],
      description: 'Type that a field of a rule would have.',
    }),
    scope: Type.Unsafe<'root' | 'nested' | 'item'>({
      type: 'string',
      enum: ['root', 'nested', 'item'],
      description: 'Whether it is in the object itself, in a nested object, or in the elements of a list.',
    }),
    required: Type.Boolean({ description: 'Whether the content requires the field.' }),
    schemaPath: Type.String({ description: 'JSON pointer into the content.' }),
    derivedObjectName: Type.Optional(Type.String({ description: 'For objects within the content.' })),
    values: Type.Optional(Type.String({ description: 'For enum fields: the name of the managed collection.' })),
    members: Type.Optional(Type.Integer({ description: 'For enum fields: how many members are values.' })),
  },
  { $id: 'ParsedField', description: 'A typed field that a rule can take over.' },
);
export type ParsedField = Static<typeof ParsedField>;

/** A field of an object. */
interface ObjectField extends ResourceField {
  /** Whether it is written with the object, instead of being created by the database. */
  readonly saved: boolean;
}

const contentExample = JSON.stringify({
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string', enum: ['open', 'paid'] } },
});

/** The fields of an object. A new field needs a column of the same name that the runtime role may read and, if it is `saved`, write. */
export const objectFields = {
  id: {
    schema: Type.String({ format: 'uuid', description: 'Id, a UUID.' }),
    example: '5c0a8c0e-7a53-4f0e-9d9e-0d2c8b1f6a11',
    saved: false,
  },
  name: { schema: Type.String({ description: 'Name, unique in the workspace.' }), example: 'Order', saved: true },
  content: {
    schema: Type.String({ description: 'JSON text, as it was given.' }),
    example: contentExample,
    saved: true,
  },
  content_type: {
    schema: Type.Unsafe<(typeof objectContentTypes)[number]>({
      type: 'string',
      enum: [...objectContentTypes],
      description: '`json_schema` where the content is a JSON Schema, `json_object` where it is a plain object.',
    }),
    example: 'json_schema',
    saved: true,
  },
  parsed_fields: {
    schema: Type.Array(ParsedField, { description: 'Fields that were read from the content.' }),
    example: [
      {
        ...{ key: 'status', name: 'status', description: null, type: 'string', scope: 'root', required: true },
        ...{ schemaPath: '/properties/status', values: 'status', members: 2 },
      },
    ],
    audited: false,
    saved: true,
  },
  user_groups: {
    schema: Type.Array(Type.String(), {
      description: 'Names of the user groups that see it. Empty: every key of the workspace does.',
    }),
    example: [],
    saved: true,
  },
  created_at: {
    schema: Type.String({ format: 'date-time', description: 'When it was made, ISO 8601 in UTC.' }),
    example: '2026-01-15T09:30:00.000Z',
    saved: false,
  },
  /** Strictly increases with each change. */
  updated_at: {
    schema: Type.String({ format: 'date-time', description: 'When it was last changed, ISO 8601 in UTC.' }),
    example: '2026-01-15T09:30:00.000Z',
    saved: false,
  },
} as const satisfies Readonly<Record<string, ObjectField>>;

/** An object of the workspace. Times are ISO 8601 UTC with milliseconds. */
export type ObjectRecord = RecordOf<typeof objectFields>;

/** The desired state of an object. A restricted access must name at least one of its own groups; existing groups of the object may stay. */
export type SavedObject = Pick<ObjectRecord, 'name' | 'content' | 'contentType' | 'parsedFields' | 'userGroups'>;

export const WorkspaceObject = Type.Object(
  {
    ...answerSchemas(objectFields),
    schema_type: Type.String({ description: 'The same as `content_type`.' }),
    source_format: Type.String({ description: 'Always `json`.' }),
  },
  { $id: 'WorkspaceObject', description: 'A JSON Schema or a plain JSON object, and the fields it has.' },
);
export type WorkspaceObject = Static<typeof WorkspaceObject>;

export const ListObjectsQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({ pattern: '^[0-9]+$', description: '1 to 1000, default 100. Switches to the paged form.' }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 500, description: 'Where the previous page ended. Switches to the paged form.' }),
    ),
  },
  { $id: 'ListObjectsQuery', additionalProperties: false, description: 'Which page of the objects.' },
);

const ObjectPage = Type.Object(
  {
    data: Type.Array(WorkspaceObject, { description: 'The entries of this page.' }),
    next_cursor: described(nullableText, 'Give it as `cursor` to read the next page; null on the last page.'),
  },
  { $id: 'ObjectPage', description: 'One page of objects; `next_cursor` is null on the last.' },
);

export const ListObjectsAnswer = Type.Union([Type.Array(WorkspaceObject), ObjectPage], {
  $id: 'ListObjectsAnswer',
  description: 'All objects, or one page of them.',
});

export const UpsertObjectRequest = Type.Object(
  {
    id: Type.Optional(Type.String({ description: 'Changes this object; unknown ones are 404.' })),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: OBJECT_NAME_MAX_LENGTH,
        description: 'Without an id: changes the object of exactly this name, or creates it. Stored as NFC.',
      }),
    ),
    content: Type.Optional(
      Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
        description:
          'JSON text, or the JSON object itself, which is then stored as its text. Needed for a new object; else it may stay as it is.',
      }),
    ),
    user_groups: Type.Optional(
      described(
        userGroups,
        'Names of the user groups that see it, at most 100. A key that is restricted to groups gives its own alone.',
      ),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: 'Answers what would happen; nothing is written.' })),
    expected_updated_at: Type.Optional(
      Type.String({ format: 'date-time', description: 'Refuses the change where the object was changed since.' }),
    ),
    field_rename: Type.Optional(
      Type.Union(
        [
          Type.Object(
            {
              from_key: described(fieldPath, 'Path of the field before, 1 to 512 characters.'),
              to_key: described(fieldPath, 'Path of the field now, 1 to 512 characters.'),
            },
            { additionalProperties: false },
          ),
          Type.Object(
            {
              from: described(fieldPath, 'Path of the field before, 1 to 512 characters.'),
              to: described(fieldPath, 'Path of the field now, 1 to 512 characters.'),
            },
            { additionalProperties: false },
          ),
        ],
        { description: 'Values of the field, and of fields in it, keep their identity. Both forms mean the same.' },
      ),
    ),
  },
  { $id: 'UpsertObjectRequest', additionalProperties: false, description: 'An object to create or change.' },
);
export type UpsertObjectRequest = Static<typeof UpsertObjectRequest>;

const counts = {
  created: Type.Integer({ description: 'Values that are new.' }),
  revived: Type.Integer({ description: 'Archived ones that are active again.' }),
  updated: Type.Integer({ description: 'Active ones with another content or name.' }),
  unchanged: Type.Integer({ description: 'Active values with the same content and name.' }),
};

const SyncedObjectValues = Type.Object(
  {
    synced: Type.Integer({ description: 'Values that the object now has: created, revived, updated and unchanged.' }),
    archived: Type.Integer({ description: 'Values that the object no longer generates and that were archived.' }),
    ...counts,
  },
  { $id: 'SyncedObjectValues', description: 'How the values of an object were changed.' },
);

const PlannedObjectValues = Type.Object(
  {
    synced: Type.Integer({ description: 'The same as `would_sync`, under the name that the answer of the save has.' }),
    archived: Type.Integer({ description: 'How many `would_archive` lists.' }),
    would_sync: Type.Integer({ description: 'Values that the object would have.' }),
    would_archive: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of the value.' }),
        name: Type.String({ description: 'Name of the value.' }),
      }),
      { description: 'Values that would be archived.' },
    ),
    ...counts,
  },
  { $id: 'PlannedObjectValues', description: 'What would happen to the values of an object.' },
);

export const UpsertObjectAnswer = Type.Object(
  {
    dry_run: Type.Optional(Type.Boolean({ description: 'True where nothing was written.' })),
    created: Type.Boolean({ description: 'Whether the object is, or would be, new.' }),
    object: WorkspaceObject,
    values: Type.Union([SyncedObjectValues, PlannedObjectValues], {
      description: 'What happened, or would happen, to its values.',
    }),
  },
  { $id: 'UpsertObjectAnswer', description: 'The object as it now is, or would be, and its values.' },
);
export type UpsertObjectAnswer = Static<typeof UpsertObjectAnswer>;

export const DeleteObjectQuery = Type.Object(
  {
    values: Type.Optional(
      Type.Unsafe<'detach' | 'archive'>({
        type: 'string',
        enum: ['detach', 'archive'],
        description: '`detach` keeps the values active, as ordinary ones. Default: they are archived.',
      }),
    ),
  },
  { $id: 'DeleteObjectQuery', additionalProperties: false, description: 'What happens to the values.' },
);

export const DeletedObject = Type.Object(
  {
    message: Type.String({ description: 'What was done, in a sentence.' }),
    values: Type.Object(
      {
        total: Type.Integer({
          description: 'Values that the object had: `deleted`, `detached` and `archived` together.',
        }),
        deleted: Type.Integer({ description: 'Always 0: rules may refer to them.' }),
        detached: Type.Integer({ description: 'Values that stay active as ordinary ones.' }),
        archived: Type.Integer({ description: 'Values that were archived.' }),
      },
      { description: 'The changes of the values of the object, as counts.' },
    ),
  },
  { $id: 'DeletedObject', description: 'The deleted object, and how its values were treated.' },
);
export type DeletedObject = Static<typeof DeletedObject>;
