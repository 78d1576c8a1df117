import { createApiKey, listApiKeys, revokeApiKey, rotateApiKey } from '@decision/contracts';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { accessOf } from '../access';
import { createKey, type KeyContext, listKeys, revokeKey, rotateKey } from '../keys/api-keys';
import { readPageQuery } from '../page-query';

/** The calls under /api/v1/admin/keys. */
export const keyRoutes = (context: KeyContext): readonly BoundOperation[] => [
  bindOperation(createApiKey, ({ identity, body }) => createKey(context, identity, body)),
  bindOperation(listApiKeys, ({ identity, query }) => listKeys(context, accessOf(identity), readPageQuery(query))),
  bindOperation(revokeApiKey, async ({ identity, params }) => ({
    message: await revokeKey(context, accessOf(identity), params['id'] ?? ''),
  })),
  bindOperation(rotateApiKey, ({ identity, params, body }) => rotateKey(context, identity, params['id'] ?? '', body)),
];
