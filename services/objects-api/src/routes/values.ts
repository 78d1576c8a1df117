import {
  deleteValue as deleteValueOperation,
  listValues as listValuesOperation,
  syncValues,
  updateValue as updateValueOperation,
  writeValues as writeValuesOperation,
} from '@decision/contracts';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { accessOf } from '../access';
import { syncCollection } from '../values/sync-collection';
import { deleteValue, listValues, updateValue, type ValueContext, writeValues } from '../values/values';
import { readPageQuery } from '../page-query';

/** The calls under /api/v1/values. */
export const valueRoutes = (context: ValueContext): readonly BoundOperation[] => [
  bindOperation(listValuesOperation, async ({ identity, query }) => {
    const { limit, cursor, ...filters } = query;
    const paged = limit !== undefined || cursor !== undefined;
    const page = paged ? readPageQuery({ limit, cursor }) : undefined;
    const listed = await listValues(context, accessOf(identity), filters, page);
    return paged ? listed : listed.data;
  }),
  bindOperation(writeValuesOperation, ({ identity, body }) => writeValues(context, accessOf(identity), body)),
  bindOperation(syncValues, ({ identity, body }) => syncCollection(context, accessOf(identity), body)),
  bindOperation(updateValueOperation, ({ identity, params, body }) =>
    updateValue(context, accessOf(identity), params['id'] ?? '', body),
  ),
  bindOperation(deleteValueOperation, ({ identity, query }) => deleteValue(context, accessOf(identity), query.id)),
];
