import { type Static, Type } from '@sinclair/typebox';
import { type Operation } from './operation';
import { givenName, nullable, timestamp } from '../page-schema';
import { described } from '../described';
import { answerExample, answerSchemas, type RecordOf, type ResourceFields } from '../resource';

const folderTypes = ['rule', 'flow', 'context'] as const;
type FolderType = (typeof folderTypes)[number];
const folderType = Type.Unsafe<FolderType>({ type: 'string', enum: [...folderTypes] });

/** The fields of a folder. A new field needs a column of the same name that the runtime role may read. */
export const folderFields = {
  id: {
    schema: Type.String({ format: 'uuid', description: 'Id, a UUID.' }),
    example: '0d3b5c70-4d1c-4f6a-8a3b-7d0c9a3e5f21',
  },
  name: {
    schema: Type.String({ description: 'Name, unique among the folders of its type.' }),
    example: 'Pricing',
  },
  description: {
    schema: described(nullable(Type.String()), 'Text for people; null if there is none.'),
    example: null,
  },
  type: { schema: described(folderType, 'What the folder holds: rules, flows or contexts.'), example: 'rule' },
  user_groups: {
    schema: Type.Array(Type.String(), {
      description: 'Names of the user groups that see it. Empty: every key of the workspace does.',
    }),
    example: [],
  },
  created_at: {
    schema: described(timestamp, 'When it was made, ISO 8601 in UTC.'),
    example: '2026-01-15T09:30:00.000Z',
  },
  updated_at: {
    schema: described(timestamp, 'When it was last changed, ISO 8601 in UTC.'),
    example: '2026-01-15T09:30:00.000Z',
  },
} as const satisfies ResourceFields;

export type FolderRecord = RecordOf<typeof folderFields>;

export const Folder = Type.Object(answerSchemas(folderFields), {
  $id: 'Folder',
  description: 'A folder of rules, of flows or of contexts.',
});
export type Folder = Static<typeof Folder>;

const ListFoldersQuery = Type.Object(
  {
    user_group: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        examples: ['sales'],
        description: 'Only folders that carry this group, 1 to 200 characters.',
      }),
    ),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        examples: ['Pricing'],
        description: 'Only the folder of exactly this name, 1 to 200 characters.',
      }),
    ),
  },
  { $id: 'ListFoldersQuery', additionalProperties: false, description: 'Which folders.' },
);

export const UpsertFolderRequest = Type.Object(
  {
    id: Type.Optional(Type.String({ format: 'uuid', description: 'A folder to change, or the id of a new one.' })),
    name: described(givenName(), 'Name, 1 to 200 characters without control characters.'),
    description: Type.Optional(
      described(
        nullable(Type.String({ maxLength: 2_000 })),
        'Text for people, at most 2,000 characters; null for none.',
      ),
    ),
    type: Type.Optional(
      described(folderType, 'What the folder holds: rules, flows or contexts. Default of a new one: `rule`.'),
    ),
  },
  {
    $id: 'UpsertFolderRequest',
    additionalProperties: false,
    description:
      'A folder. Without an id the folder of this name and type is made or changed; the type is `rule` where none is given.',
  },
);
export type UpsertFolderRequest = Static<typeof UpsertFolderRequest>;

const DeleteFolderRequest = Type.Object(
  { id: Type.String({ format: 'uuid', description: 'Id of the folder, a UUID.' }) },
  { $id: 'DeleteFolderRequest', additionalProperties: false, description: 'Which folder.' },
);

const FolderList = Type.Array(Folder, { $id: 'FolderList', description: 'Folders, by name.' });

const shared = { service: 'objects-api', tag: 'Folders', path: '/api/v1/admin/folders', pathParameters: [] } as const;
const folderExample = answerExample(folderFields);

export const listFolders = {
  ...shared,
  id: 'listFolders',
  method: 'get',
  summary: 'List folders',
  description: 'By name. Only those that the key may see.',
  entitlement: 'rules.read',
  query: ListFoldersQuery,
  success: {
    status: 200,
    description: 'The folders that the key may see.',
    schema: FolderList,
    example: [folderExample],
  },
  errors: [],
} as const satisfies Operation;

export const upsertFolder = {
  ...shared,
  id: 'upsertFolder',
  method: 'post',
  summary: 'Create or change a folder',
  description:
    'With a known `id` it changes that folder. Without one the folder of this name and type is changed, or made.',
  entitlement: 'rules.write',
  body: { schema: UpsertFolderRequest, description: 'The folder.', example: { name: 'Pricing', type: 'rule' } },
  success: { status: 200, description: 'The folder as it now is.', schema: Folder, example: folderExample },
  errors: ['folder_name_taken'],
} as const satisfies Operation;

export const deleteFolder = {
  ...shared,
  id: 'deleteFolder',
  method: 'delete',
  summary: 'Delete a folder',
  description: 'Rules that lie in it stay; those that the key sees lie in no folder then.',
  entitlement: 'rules.write',
  body: { schema: DeleteFolderRequest, description: 'Which folder.', example: { id: folderExample.id } },
  success: { status: 200, description: 'The deleted folder.', schema: Folder, example: folderExample },
  errors: ['folder_not_found'],
} as const satisfies Operation;

export const folderOperations = [listFolders, upsertFolder, deleteFolder];
