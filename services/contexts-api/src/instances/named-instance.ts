import { type OpenContext } from '../definitions/context-directory';
import { type RequestOrigin } from '../operations/work';

/** One instance that a request names. */
export interface NamedInstance {
  readonly context: OpenContext;
  readonly instanceId: string;
  readonly origin: RequestOrigin;
}
