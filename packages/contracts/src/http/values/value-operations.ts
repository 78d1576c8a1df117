import { answerExample } from '../../resource';
import { type Operation } from '../operation';
import {
  DeletedValue,
  DeleteValueQuery,
  ListedValue,
  ListValuesAnswer,
  ListValuesQuery,
  SyncValuesAnswer,
  SyncValuesRequest,
  UpdateValueRequest,
  valueFields,
  WriteValuesAnswer,
  WriteValuesRequest,
} from './values';

const shared = { service: 'objects-api', tag: 'Values', path: '/api/v1/values', pathParameters: [] } as const;

const valueExample = answerExample(valueFields);

export const listValues = {
  ...shared,
  id: 'listValues',
  method: 'get',
  summary: 'List values',
  description: 'A bare array where neither `limit` nor `cursor` is given, else one page.',
  entitlement: 'rules.read',
  query: ListValuesQuery,
  success: {
    status: 200,
    description: 'The values that the key may see, newest first.',
    schema: ListValuesAnswer,
    example: [valueExample],
  },
  errors: [],
} as const satisfies Operation;

export const writeValues = {
  ...shared,
  id: 'writeValues',
  method: 'post',
  summary: 'Create or change values by name',
  description:
    'All or nothing. An archived value of the same name is revived with its identity. Rules that use a value see the new one at once, ' +
    'without being published again; so a value that is in use keeps its type.',
  entitlement: 'rules.write',
  body: {
    schema: WriteValuesRequest,
    large: true,
    description: 'Values by name.',
    example: {
      values: {
        limits: { credit: 5000 },
        countries: ['DE', 'FR'],
        discount: { $function: { parameters: ['quantity', 'price'], formula: 'quantity > 10 ? price * 0.9 : price' } },
      },
    },
  },
  success: {
    status: 200,
    description: 'The values as they now are.',
    schema: WriteValuesAnswer,
    example: [valueExample],
  },
  errors: ['value_invalid', 'value_name_taken', 'value_in_use', 'value_managed'],
} as const satisfies Operation;

export const updateValue = {
  ...shared,
  id: 'updateValue',
  method: 'put',
  path: '/api/v1/values/{id}',
  pathParameters: [{ name: 'id', description: 'Id of the value.', example: valueExample.id }],
  summary: 'Rename, change or archive a value',
  description: 'Rules refer to values by id: a new name breaks none.',
  entitlement: 'rules.write',
  body: {
    schema: UpdateValueRequest,
    large: true,
    description: 'What changes.',
    example: { name: 'limits.small_credit' },
  },
  success: { status: 200, description: 'The value as it now is.', schema: ListedValue, example: valueExample },
  errors: ['value_not_found', 'value_invalid', 'value_name_taken', 'value_in_use', 'value_managed'],
} as const satisfies Operation;

export const deleteValue = {
  ...shared,
  id: 'deleteValue',
  method: 'delete',
  summary: 'Delete a value that no rule or flow uses',
  description:
    'Refused while a draft or a published version uses it. Lists that refer to it have its content from then on.',
  entitlement: 'rules.write',
  query: DeleteValueQuery,
  success: {
    status: 200,
    description: 'The value was deleted.',
    schema: DeletedValue,
    example: { message: 'Value "limits.credit" was deleted.', updated_list_values: [] },
  },
  errors: ['value_not_found', 'value_in_use', 'value_managed'],
} as const satisfies Operation;

export const syncValues = {
  ...shared,
  id: 'syncValues',
  path: '/api/v1/values/sync',
  method: 'post',
  summary: 'Make a collection equal to the request',
  description:
    'Large collections come in chunks of one `sync_id`, in any order, each as often as needed: a chunk that comes again changes nothing. The ' +
    'last carries `complete: true`; only then what no chunk brought is archived. A run that was interrupted goes on with the next chunk. ' +
    'Beginning a new run of a collection ends one that is open.',
  entitlement: 'rules.write',
  body: {
    schema: SyncValuesRequest,
    large: true,
    description: 'A collection, or a chunk of it.',
    example: { collection: 'countries', values: { DE: 'Germany', FR: 'France' }, sync_id: 'nightly', complete: true },
  },
  success: {
    status: 200,
    description: 'The changes of the collection; for a dry run, those that it would make.',
    schema: SyncValuesAnswer,
    example: {
      collection: 'countries',
      sync_id: 'nightly',
      already_completed: false,
      dry_run: false,
      swept: true,
      created: 1,
      updated: 0,
      unchanged: 1,
      processed: 2,
      archived: 0,
      deleted: 0,
      blocked: [],
      errors: [],
    },
  },
  errors: ['value_invalid', 'value_name_taken', 'value_sync_superseded'],
} as const satisfies Operation;

export const valueOperations = [listValues, writeValues, syncValues, updateValue, deleteValue];
