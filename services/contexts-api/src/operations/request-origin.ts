import { type Identity, type RequestContext } from '@decision/service-kit';
import { accessOf, wholeWorkspace } from '../access';
import { type RequestOrigin } from './work';

/** The origin of what a request asks for. */
export const originOf = (
  identity: Identity,
  { requestId, traceparent, receivedAt }: Pick<RequestContext, 'requestId' | 'traceparent' | 'receivedAt'>,
  timeoutMs: number,
): RequestOrigin => ({
  access: wholeWorkspace(accessOf(identity)),
  ...{ keyId: identity.keyId, requestId, traceparent, now: receivedAt, deadline: receivedAt + timeoutMs },
});
