import { createApiKey, listApiKeys, revokeApiKey } from '@decision/contracts';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { accessOf } from '../access';
import { createKey, type KeyContext, listKeys, revokeKey } from '../keys/api-keys';
import { readPageQuery } from './page-query';

/** The calls under /api/v1/admin/keys. */
export const keyRoutes = (context: KeyContext): readonly BoundOperation[] => [
  bindOperation(createApiKey, ({ identity, body }) => createKey(context, accessOf(identity), body)),
  bindOperation(listApiKeys, ({ identity, query }) => listKeys(context, accessOf(identity), readPageQuery(query))),
  bindOperation(revokeApiKey, async ({ identity, params }) => ({
    message: await revokeKey(context, accessOf(identity), params['id'] ?? ''),
  })),
];
