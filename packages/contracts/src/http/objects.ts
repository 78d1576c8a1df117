import { type Static, Type } from '@sinclair/typebox';

const nullableText = Type.Union([Type.String(), Type.Null()]);
const userGroups = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100 });
const fieldPath = Type.String({ minLength: 1, maxLength: 512 });

/** Largest content of an object, characters. The limit of request bodies is usually smaller. */
export const OBJECT_CONTENT_MAX_LENGTH = 20 * 1024 * 1024;
export const OBJECT_NAME_MAX_LENGTH = 200;

export const objectContentTypes = ['json_schema', 'json_object'] as const;

/** A field that was read from an object's content. Its keys are those that clients know, of both cases. */
export const ParsedField = Type.Object(
  {
    key: Type.String({ description: 'Keys to the field, joined with dots; elements of lists add no part.' }),
    name: Type.String(),
    description: nullableText,
    type: Type.Unsafe<'string' | 'number' | 'boolean' | 'date' | 'list' | 'object'>({
      type: 'string',
      enum: ['string', 'number', 'boolean', 'date', 'list', 'object'],
    }),
    scope: Type.Unsafe<'root' | 'nested' | 'item'>({
      type: 'string',
      enum: ['root', 'nested', 'item'],
      description: 'Whether it stands in the object itself, in an object within, or in the elements of a list.',
    }),
    required: Type.Boolean(),
    schemaPath: Type.String({ description: 'JSON pointer into the content.' }),
    derivedObjectName: Type.Optional(Type.String({ description: 'For objects within the content.' })),
    values: Type.Optional(Type.String({ description: 'For enum fields: the name of the managed collection.' })),
    members: Type.Optional(Type.Integer({ description: 'For enum fields: how many members are values.' })),
  },
  { $id: 'ParsedField', description: 'A typed field that a rule can take over.' },
);
export type ParsedField = Static<typeof ParsedField>;

export const WorkspaceObject = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    content: Type.String({ description: 'JSON text, as it was given.' }),
    content_type: Type.Unsafe<(typeof objectContentTypes)[number]>({ type: 'string', enum: [...objectContentTypes] }),
    schema_type: Type.String({ description: 'The same as `content_type`.' }),
    source_format: Type.String({ description: 'Always `json`.' }),
    parsed_fields: Type.Array(ParsedField),
    user_groups: Type.Array(Type.String()),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
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

export const ObjectPage = Type.Object(
  { data: Type.Array(WorkspaceObject), next_cursor: nullableText },
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
    user_groups: Type.Optional(userGroups),
    dry_run: Type.Optional(Type.Boolean({ description: 'Answers what would happen; nothing is written.' })),
    expected_updated_at: Type.Optional(
      Type.String({ format: 'date-time', description: 'Refuses the change where the object was changed since.' }),
    ),
    field_rename: Type.Optional(
      Type.Union(
        [
          Type.Object({ from_key: fieldPath, to_key: fieldPath }, { additionalProperties: false }),
          Type.Object({ from: fieldPath, to: fieldPath }, { additionalProperties: false }),
        ],
        { description: 'Values of the field, and of fields in it, keep their identity. Both forms mean the same.' },
      ),
    ),
  },
  { $id: 'UpsertObjectRequest', additionalProperties: false, description: 'An object to create or change.' },
);
export type UpsertObjectRequest = Static<typeof UpsertObjectRequest>;

const counts = {
  created: Type.Integer(),
  revived: Type.Integer({ description: 'Archived ones that are active again.' }),
  updated: Type.Integer({ description: 'Active ones with another content or name.' }),
  unchanged: Type.Integer(),
};

export const SyncedObjectValues = Type.Object(
  {
    synced: Type.Integer({ description: 'Values that the object now has: created, revived, updated and unchanged.' }),
    archived: Type.Integer(),
    ...counts,
  },
  { $id: 'SyncedObjectValues', description: 'What became of the values of an object.' },
);

export const PlannedObjectValues = Type.Object(
  {
    synced: Type.Integer({ description: 'The same as `would_sync`, under the name that the answer of the save has.' }),
    archived: Type.Integer({ description: 'How many `would_archive` lists.' }),
    would_sync: Type.Integer(),
    would_archive: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
    ...counts,
  },
  { $id: 'PlannedObjectValues', description: 'What would become of the values of an object.' },
);

export const UpsertObjectAnswer = Type.Object(
  {
    dry_run: Type.Optional(Type.Boolean()),
    created: Type.Boolean(),
    object: WorkspaceObject,
    values: Type.Union([SyncedObjectValues, PlannedObjectValues]),
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
  { $id: 'DeleteObjectQuery', additionalProperties: false, description: 'What becomes of the values.' },
);

export const DeletedObject = Type.Object(
  {
    message: Type.String(),
    values: Type.Object({
      total: Type.Integer({
        description: 'Values that the object had: `deleted`, `detached` and `archived` together.',
      }),
      deleted: Type.Integer({ description: 'Always 0: rules may refer to them.' }),
      detached: Type.Integer(),
      archived: Type.Integer(),
    }),
  },
  { $id: 'DeletedObject', description: 'What was deleted, and what became of its values.' },
);
export type DeletedObject = Static<typeof DeletedObject>;
