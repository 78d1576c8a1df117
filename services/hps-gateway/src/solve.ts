import { type Requester } from '@decision/broker';
import { type ExplainMode, ServiceError } from '@decision/contracts';
import { type RuleDirectory, type Viewer } from './rule-directory';

/** One solve, as the gateway understands it. The payload is the request body as it arrived. */
export interface SolveRequest {
  readonly viewer: Viewer;
  readonly slug: string;
  readonly selector: string;
  readonly explain: ExplainMode;
  readonly payload: Buffer;
  /** Epoch ms of the request's arrival: the deadline counts from here, and it is the clock of the evaluation. */
  readonly receivedAt: number;
  readonly requestId: string;
  readonly traceparent: string | undefined;
}

/** Sends a request to a worker and answers the bytes of its result. Throws `ServiceError` for everything that can go wrong. */
export type Solve = (request: SolveRequest) => Promise<Buffer>;

/** `requester` is undefined where the operator has disabled the broker: then every request is answered `broker_unavailable`. */
export const createSolve =
  (directory: RuleDirectory, requester: Requester | undefined, rpcTimeoutMs: number): Solve =>
  async (request) => {
    if (requester === undefined)
      throw new ServiceError('broker_unavailable', 'The message broker is disabled; rules cannot be solved here.');
    const versionId = await directory.resolve(request.viewer, request.slug, request.selector);
    const { explain, receivedAt, requestId, traceparent, viewer } = request;
    return requester.request(
      {
        kind: 'solve',
        deadline: receivedAt + rpcTimeoutMs,
        workspaceId: viewer.workspaceId,
        versionId,
        receivedAt,
        explain,
        requestId,
        traceparent,
      },
      request.payload,
    );
  };
