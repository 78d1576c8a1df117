import { type AssetKind, assetKinds } from '../asset-pointer';
import { parseJson } from '../json/parse-json';
import { fixedLimits } from '../limits';
import {
  EnvelopeError,
  headerText,
  type MessageHeaders,
  type ReceivedHeaders,
  requiredCount,
  requiredHeader,
} from './headers';

/** How much of an explanation the answer carries. */
const explainModes = ['none', 'brief', 'all'] as const;
export type ExplainMode = (typeof explainModes)[number];

/** Reader of the explanation: the user groups to which a key is restricted, or `unrestricted`. */
type ExplanationAudience = 'unrestricted' | readonly string[];

/**
 * Treatment of the payload: `solve` one input, or a chunk of many (see `solution-chunk.v1`), with the results as the inside of a JSON list
 * (`solve-list`) or as lines (`solve-lines`); or `settle` instances of a context (see `settle.v1`), in which case the message names the context
 * instead of a version.
 */
const solutionKinds = ['solve', 'solve-list', 'solve-lines', 'settle'] as const;
export type SolutionKind = (typeof solutionKinds)[number];

/**
 * The envelope of a message on `solution`, version 1. It is sent in the message's headers; the value is the request body from the client, so
 * neither side parses more than it needs.
 */
export interface SolutionRequestEnvelope {
  /** Identifies the request; the reply returns it. */
  readonly correlationId: string;
  /** The requester: one value per process; a process skips replies for other requesters unread. */
  readonly requester: string;
  /** Partition of `solution-response` on which the requester listens. */
  readonly replyPartition: number;
  /** Epoch ms after which no client is waiting for the answer; a worker that receives the message later drops it. */
  readonly deadline: number;
  readonly kind: SolutionKind;
  readonly workspaceId: string;
  /** The immutable published version to evaluate. */
  readonly versionId: string;
  /** Kind of the asset of the version. Default: rule. Absent in a `settle` message. */
  readonly asset?: AssetKind | undefined;
  /** Epoch ms of the request's arrival: the one clock of its evaluation. */
  readonly receivedAt: number;
  readonly explain: ExplainMode;
  /** The explanation shows only values of the workspace that this audience may see; without it, none. */
  readonly audience?: ExplanationAudience | undefined;
  readonly requestId: string;
  /**
   * Only for flows: the name under which the client repeats the request, at most `fixedLimits.idempotencyKeyLength` characters. Without it, the
   * request id identifies the work.
   */
  readonly idempotencyKey?: string | undefined;
  readonly traceparent: string | undefined;
  /** Origin of the request for the decision log; without it, nothing is logged. */
  readonly origin?: DecisionOrigin | undefined;
}

/** Caller and target, as named by the request. */
interface DecisionOrigin {
  readonly keyId: string;
  readonly slug: string;
  readonly selector: string;
  /** Index of the payload's first input in the request. */
  readonly firstIndex: number;
  /** Id of the rule or flow; undefined if the sender does not know it. */
  readonly assetId?: string | undefined;
  /** Slug of the context whose operation runs it. Not in messages: the process that runs the operation knows it. */
  readonly context?: string | undefined;
  /** Slug of the flow that requested the operation. Not in messages either. */
  readonly flow?: string | undefined;
}

const SOLUTION_REQUEST_VERSION = '1';

/** Encodes an envelope as message headers. */
export const encodeSolutionRequest = (envelope: SolutionRequestEnvelope): MessageHeaders => {
  const { asset, explain, audience, traceparent, origin, idempotencyKey } = envelope;
  // Fills one object, since each spread of a part would copy the existing members.
  const headers: Record<string, string> = {
    v: SOLUTION_REQUEST_VERSION,
    'correlation-id': envelope.correlationId,
    requester: envelope.requester,
    'reply-partition': String(envelope.replyPartition),
    deadline: String(envelope.deadline),
    kind: envelope.kind,
    'workspace-id': envelope.workspaceId,
    'version-id': envelope.versionId,
    'received-at': String(envelope.receivedAt),
    'request-id': envelope.requestId,
  };
  if (asset === 'flow') {
    headers['asset'] = 'flow';
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
  }
  if (explain !== 'none') {
    headers['explain'] = explain;
    if (audience !== undefined) headers['audience'] = audience === 'unrestricted' ? '*' : JSON.stringify(audience);
  }
  if (traceparent !== undefined) headers['traceparent'] = traceparent;
  if (origin !== undefined) addOrigin(headers, origin);
  return headers;
};

const addOrigin = (headers: Record<string, string>, origin: DecisionOrigin): void => {
  headers['key-id'] = origin.keyId;
  headers['slug'] = origin.slug;
  headers['selector'] = origin.selector;
  headers['first-index'] = String(origin.firstIndex);
  if (origin.assetId !== undefined) headers['asset-id'] = origin.assetId;
};

/** Decodes an envelope. Throws `EnvelopeError` naming the missing or invalid header. */
export const decodeSolutionRequest = (headers: ReceivedHeaders): SolutionRequestEnvelope => ({
  correlationId: requiredHeader(headers, 'correlation-id'),
  requester: requiredHeader(headers, 'requester'),
  replyPartition: requiredCount(headers, 'reply-partition'),
  deadline: requiredCount(headers, 'deadline'),
  kind: readKind(headers),
  workspaceId: requiredHeader(headers, 'workspace-id'),
  versionId: requiredHeader(headers, 'version-id'),
  asset: readAsset(headers),
  receivedAt: requiredCount(headers, 'received-at'),
  explain: readExplain(headers),
  audience: readAudience(headers),
  requestId: requiredHeader(headers, 'request-id'),
  idempotencyKey: readIdempotencyKey(headers),
  traceparent: headerText(headers, 'traceparent'),
  origin: headers['key-id'] === undefined ? undefined : readOrigin(headers),
});

const readOrigin = (headers: ReceivedHeaders): DecisionOrigin => ({
  keyId: requiredHeader(headers, 'key-id'),
  slug: requiredHeader(headers, 'slug'),
  selector: requiredHeader(headers, 'selector'),
  firstIndex: requiredCount(headers, 'first-index'),
  assetId: headerText(headers, 'asset-id'),
});

const readKind = (headers: ReceivedHeaders): SolutionKind => {
  const kind = requiredHeader(headers, 'kind');
  const known = solutionKinds.find((candidate) => candidate === kind);
  if (known !== undefined) return known;
  throw new EnvelopeError('internal_error', `The message asks for "${kind}", which this worker does not know.`);
};

/** Processes of the release before flows send no kind: their assets are rules. */
const readAsset = (headers: ReceivedHeaders): AssetKind => {
  const text = headerText(headers, 'asset') ?? 'rule';
  const kind = assetKinds.find((known) => known === text);
  if (kind !== undefined) return kind;
  throw new EnvelopeError('internal_error', `The message names an asset "${text}", which this worker does not know.`);
};

const readIdempotencyKey = (headers: ReceivedHeaders): string | undefined => {
  const key = headerText(headers, 'idempotency-key');
  const { idempotencyKeyLength: most } = fixedLimits;
  if (key === undefined || (key !== '' && key.length <= most)) return key;
  throw new EnvelopeError('internal_error', `The header "idempotency-key" has not 1 to ${most} characters.`);
};

const readExplain = (headers: ReceivedHeaders): ExplainMode => {
  const text = headerText(headers, 'explain') ?? 'none';
  const mode = explainModes.find((known) => known === text);
  if (mode !== undefined) return mode;
  throw new EnvelopeError(
    'internal_error',
    `The message asks for the explanation "${text}", which this worker does not know.`,
  );
};

const readAudience = (headers: ReceivedHeaders): ExplanationAudience | undefined => {
  const text = headerText(headers, 'audience');
  if (text === undefined) return undefined;
  if (text === '*') return 'unrestricted';
  const parsing = parseJson(text);
  const groups: unknown = parsing.ok ? parsing.value : undefined;
  if (Array.isArray(groups) && groups.every((group) => typeof group === 'string')) return groups;
  throw new EnvelopeError('internal_error', 'The header "audience" is neither "*" nor a JSON list of user groups.');
};
