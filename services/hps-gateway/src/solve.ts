import { type RequestEnvelope, type Requester, type RequestSettled } from '@decision/broker';
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
  /** For flows: identifies the work if the request is repeated. Default: the request id. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Lets a worker evaluate a payload and answers the bytes of its result: one input, or a chunk of many, the first of which has index `firstIndex`
 * (default 0) in the request. The payload is the value of the message and the result is that of the answer, byte for byte: see
 * docs/adr/0004-payload-as-value-envelope-as-headers.md. Throws `ServiceError` for every failure.
 */
export type Evaluate = (kind: SolutionKind, payload: Buffer, firstIndex?: number) => Promise<Buffer>;

/** The version that a request selects. */
interface Solvable {
  /** Whether its evaluation calls other systems; never so for rules. */
  readonly reachesOut: boolean;
  readonly evaluate: Evaluate;
}

/** Finds the version that a request selects. Throws `ServiceError` as the directory of assets does, and `broker_unavailable`. */
export type OpenSolve = (request: SolveRequest) => Promise<Solvable>;

/** `requester` is undefined if the operator has disabled the broker: then every request is answered `broker_unavailable`. */
export const createSolve =
  (directory: Pick<AssetDirectory, 'resolve'>, requester: Requester | undefined, rpcTimeoutMs: number): OpenSolve =>
  async (request) => {
    if (requester === undefined)
      throw new ServiceError('broker_unavailable', 'The message broker is disabled; nothing can be solved here.');
    const { viewer, asset, slug, selector } = request;
    const version = await directory.resolve(viewer, { kind: asset, slug, selector });
    return {
      reachesOut: version.reaches_out === true,
      evaluate: (kind, payload, firstIndex = 0) =>
        requester.request(envelopeOf(request, version, { kind, firstIndex, rpcTimeoutMs }), payload),
    };
  };

/** A version cached in this process. */
export type KnownVersion = NonNullable<ReturnType<AssetDirectory['peek']>>;

/** Sends single inputs of rules with a cached version, without promises. */
export interface DirectSolve {
  /** The version; undefined if it must be looked up, or the viewer must be refused. */
  find(viewer: SolveRequest['viewer'], slug: string, selector: string): KnownVersion | undefined;
  /** Lets a worker evaluate a payload. `settled` is called once, perhaps before this returns. */
  send(version: KnownVersion, request: SolveRequest, payload: Buffer, settled: RequestSettled): void;
}

export const createDirectSolve = (
  directory: Pick<AssetDirectory, 'peek'>,
  requester: Requester,
  rpcTimeoutMs: number,
): DirectSolve => ({
  find: (viewer, slug, selector) => directory.peek(viewer, { kind: 'rule', slug, selector }),
  send: (version, request, payload, settled) =>
    requester.submit(envelopeOf(request, version, { kind: 'solve', firstIndex: 0, rpcTimeoutMs }), payload, settled),
});

interface Sending {
  readonly kind: SolutionKind;
  readonly firstIndex: number;
  readonly rpcTimeoutMs: number;
}

/** The envelope of a message that evaluates a version for a request. */
const envelopeOf = (
  { viewer, asset, slug, selector, explain, receivedAt, requestId, traceparent, idempotencyKey }: SolveRequest,
  { version_id: versionId, asset_id: assetId }: KnownVersion,
  { kind, firstIndex, rpcTimeoutMs }: Sending,
): RequestEnvelope => ({
  kind,
  workspaceId: viewer.workspaceId,
  versionId,
  asset,
  receivedAt,
  deadline: receivedAt + rpcTimeoutMs,
  requestId,
  idempotencyKey,
  traceparent,
  explain,
  audience: viewer.userGroups ?? 'unrestricted',
  origin: { keyId: viewer.actor, slug, selector, firstIndex, assetId },
});
