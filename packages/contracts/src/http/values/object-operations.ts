import { answerExample } from '../../resource';
import {
  DeletedObject,
  DeleteObjectQuery,
  ListObjectsAnswer,
  ListObjectsQuery,
  objectFields,
  UpsertObjectAnswer,
  UpsertObjectRequest,
  WorkspaceObject,
} from './objects';
import { type Operation } from '../operation';

const shared = { service: 'objects-api', tag: 'Objects', path: '/api/v1/objects', pathParameters: [] } as const;

const objectExample = { ...answerExample(objectFields), schema_type: 'json_schema', source_format: 'json' };
const { name, content } = objectExample;

const idOrName = {
  name: 'idOrName',
  description: 'Id or exact name of the object. A slash in a name may stand as it is.',
  example: 'Order',
  spansSlashes: true,
};

export const listObjects = {
  ...shared,
  id: 'listObjects',
  method: 'get',
  summary: 'List objects',
  description: 'A bare array where neither `limit` nor `cursor` is given, else one page.',
  entitlement: 'rules.read',
  query: ListObjectsQuery,
  success: {
    status: 200,
    description: 'The objects that the key may see, newest first.',
    schema: ListObjectsAnswer,
    example: [objectExample],
  },
  errors: [],
} as const satisfies Operation;

export const upsertObject = {
  ...shared,
  id: 'upsertObject',
  method: 'put',
  summary: 'Create or change an object, and the values of its enums',
  description:
    'Whether the content is a JSON Schema or a plain JSON object is detected. Each enum field of a schema has a managed collection, and ' +
    'a managed value for each member, named `<field path>.<member>`; a field with `x-values-name` names them `<that name>.<member>`, so that two ' +
    'objects can have a field of one name. What an enum no longer has is archived; published rules go on resolving ' +
    'it, and it is revived with its identity when the enum has it again. All or nothing.',
  entitlement: 'objects.manage',
  body: { schema: UpsertObjectRequest, large: true, description: 'The object.', example: { name, content } },
  success: {
    status: 200,
    description: 'The object and its values as they now are; for a dry run as they would be.',
    schema: UpsertObjectAnswer,
    example: {
      created: true,
      object: objectExample,
      values: { synced: 3, archived: 0, created: 3, revived: 0, updated: 0, unchanged: 0 },
    },
  },
  errors: ['object_not_found', 'object_invalid', 'object_name_taken', 'object_changed', 'value_collision'],
} as const satisfies Operation;

export const getObject = {
  ...shared,
  id: 'getObject',
  method: 'get',
  path: '/api/v1/objects/{idOrName}',
  pathParameters: [idOrName],
  summary: 'Read one object',
  description: 'By id, or by exact name; slashes of a name belong to it.',
  entitlement: 'rules.read',
  success: { status: 200, description: 'The object.', schema: WorkspaceObject, example: objectExample },
  errors: ['object_not_found'],
} as const satisfies Operation;

export const deleteObject = {
  ...shared,
  id: 'deleteObject',
  method: 'delete',
  path: '/api/v1/objects/{idOrName}',
  pathParameters: [idOrName],
  summary: 'Delete an object',
  description:
    'Its values are archived, or kept active with `values=detach`; either way they can be changed by hand then.',
  entitlement: 'objects.manage',
  query: DeleteObjectQuery,
  success: {
    status: 200,
    description: 'The object was deleted.',
    schema: DeletedObject,
    example: {
      message: 'Object "Order" was deleted; its values were archived.',
      values: { total: 3, deleted: 0, detached: 0, archived: 3 },
    },
  },
  errors: ['object_not_found'],
} as const satisfies Operation;

export const objectOperations = [listObjects, upsertObject, getObject, deleteObject];
