import { type Requester } from '@decision/broker';
import { type AssetDirectory } from '@decision/cache';
import { type AssetKind, type ExplainMode, ServiceError, type SolutionKind } from '@decision/contracts';
import { type Identity } from '@decision/service-kit';

/** A request to solve: target, caller and deadline. */
export interface SolveRequest {
  readonly viewer: Pick<Identity, 'workspaceId' | 'userGroups' | 'actor'>;
  readonly asset: AssetKind;
  readonly slug: string;
  readonly selector: string;
  readonly explain: ExplainMode;
  /** Epoch ms of the request's arrival: the deadline counts from here, and it is the clock of the evaluation. */
  readonly receivedAt: number;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /** Of flows: what names the work where the request is sent again. Without it, the request id. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Has a worker evaluate a payload and answers the bytes of its result: one input, or a chunk of many, whose first stands at `firstIndex`
 * (default 0) of the request. The payload is the value of the message and the result is that of the answer, byte for byte: see
 * docs/adr/0004-payload-as-value-envelope-as-headers.md. Throws `ServiceError` for everything that can go wrong.
 */
export type Evaluate = (kind: SolutionKind, payload: Buffer, firstIndex?: number) => Promise<Buffer>;

/** A version that a request means. */
interface Solvable {
  /** Whether evaluating it asks something outside of this service; never so for rules. */
  readonly reachesOut: boolean;
  readonly evaluate: Evaluate;
}

/** Finds the version that a request means. Throws `ServiceError` as the directory of assets does, and `broker_unavailable`. */
export type OpenSolve = (request: SolveRequest) => Promise<Solvable>;

/** `requester` is undefined where the operator has disabled the broker: then every request is answered `broker_unavailable`. */
export const createSolve =
  (directory: Pick<AssetDirectory, 'resolve'>, requester: Requester | undefined, rpcTimeoutMs: number): OpenSolve =>
  async ({ viewer, asset, slug, selector, explain, receivedAt, requestId, traceparent, idempotencyKey }) => {
    if (requester === undefined)
      throw new ServiceError('broker_unavailable', 'The message broker is disabled; nothing can be solved here.');
    const version = await directory.resolve(viewer, { kind: asset, slug, selector });
    const shared = {
      ...{
        workspaceId: viewer.workspaceId,
        versionId: version.version_id,
        asset,
        receivedAt,
        requestId,
        idempotencyKey,
        traceparent,
      },
      ...{ explain, audience: viewer.userGroups ?? ('unrestricted' as const) },
    };
    const deadline = receivedAt + rpcTimeoutMs;
    const asked = { keyId: viewer.actor, slug, selector, assetId: version.asset_id };
    return {
      reachesOut: version.reaches_out === true,
      evaluate: (kind, payload, firstIndex = 0) =>
        requester.request({ ...shared, kind, deadline, origin: { ...asked, firstIndex } }, payload),
    };
  };
