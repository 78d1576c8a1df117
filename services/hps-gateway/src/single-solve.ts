import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type ServiceError, solveRule, solveRuleVersion } from '@decision/contracts';
import {
  bodyTooSlow,
  type HotRoute,
  type Identity,
  type RequestContext,
  type AdmittedRequest,
  sendDirect,
  sendError,
  setCommonHeaders,
} from '@decision/service-kit';
import { createEqualDeadlines, type EqualDeadlines } from '@decision/waiting';
import { type KnownVersion, type SolveRequest } from './solve';
import {
  isList,
  isSmall,
  parseSolvePath,
  SMALL_BYTES,
  type SolvePath,
  type SolveRouteContext,
  type SolveRouteLimits,
} from './solve-request';

/** An admitted request with known caller and version, whose complete body is a list. */
export interface CollectedList {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  readonly viewer: Identity;
  readonly admitted: AdmittedRequest;
  readonly path: SolvePath;
  readonly body: Buffer;
}

/** The services that a single solve uses. */
interface SingleSolveServices extends Pick<SolveRouteContext, 'admission' | 'refusals'> {
  readonly direct: NonNullable<SolveRouteContext['direct']>;
  readonly bodies: EqualDeadlines<SingleSolve>;
  readonly requestTimeoutMs: number;
  readonly answerList: (list: CollectedList) => void;
}

/**
 * The direct route: a request for one input of a rule, whose key and version this process has already verified and read. All other requests go to
 * the solve route before any work has been done for them; see docs/adr/0076-a-single-solve-is-one-object.md.
 */
export const createSingleSolveRoute = (
  services: SolveRouteContext,
  limits: SolveRouteLimits,
  answerList: (list: CollectedList) => void,
): HotRoute | undefined => {
  const { direct, authenticator, requesterStatus } = services;
  const { authenticateKnown } = authenticator;
  if (direct === undefined || authenticateKnown === undefined) return undefined;
  const bodies = createEqualDeadlines<SingleSolve>(limits.requestTimeoutMs, (solve) => solve.isTooSlow());
  const shared = { ...services, direct, bodies, answerList, requestTimeoutMs: limits.requestTimeoutMs };
  const mostBytes = Math.min(SMALL_BYTES, limits.bodyLimitBytes, limits.itemMaxBytes);
  return (request, response, context) => {
    const { method, url = '', headers } = request;
    const apiKey = headers['x-api-key'];
    if (method !== 'POST' || typeof apiKey !== 'string' || context.span?.isRecorded === true) return false;
    if (headers['content-type'] !== 'application/json' || !isSmall(request, mostBytes)) return false;
    const path = parseSolvePath(url);
    if (path?.asset !== 'rule' || path.bulk || path.explain !== 'none') return false;
    if (requesterStatus()?.ready !== true) return false;
    const viewer = authenticateKnown(apiKey);
    if (viewer?.entitlements.has(solveRule.entitlement) !== true) return false;
    const version = direct.find(viewer, path.slug, path.selector);
    if (version === undefined) return false;
    context.route = (path.named ? solveRuleVersion : solveRule).path;
    new SingleSolve(shared, { request, response, context, viewer, path, version }).begin();
    return true;
  };
};

interface SingleSolveRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  readonly viewer: Identity;
  readonly path: SolvePath;
  readonly version: KnownVersion;
}

/**
 * One request, from its admission to its answer. States: `reading` (it is admitted, the body arrives), `sent` (a worker has it), `over`. Its
 * resources are released once, on the way to `over`.
 */
class SingleSolve {
  private state: 'reading' | 'sent' | 'over' = 'reading';
  private admitted: AdmittedRequest | undefined;
  private body: Buffer | undefined;
  private sentAt = 0;

  constructor(
    private readonly services: SingleSolveServices,
    private readonly asked: SingleSolveRequest,
  ) {}

  begin(): void {
    try {
      this.admitted = this.services.admission.enter();
    } catch (error) {
      return this.fail(error);
    }
    this.services.bodies.add(this);
    this.asked.request
      .on('data', (piece: Buffer) => {
        this.body = this.body === undefined ? piece : Buffer.concat([this.body, piece]);
      })
      .on('end', () => this.hasBody())
      .on('close', () => this.isClosed());
  }

  /** The body has not arrived in time. */
  isTooSlow(): void {
    this.fail(bodyTooSlow(this.services.requestTimeoutMs));
  }

  private hasBody(): void {
    const { admitted, body = NO_BYTES, services, asked } = this;
    if (this.state !== 'reading' || admitted === undefined) return;
    services.bodies.delete(this);
    try {
      admitted.onSize(body.length);
      if (isList(body)) return this.handOver(admitted, body);
      this.state = 'sent';
      this.sentAt = performance.now();
      services.direct.send(asked.version, this.solveRequest(), body, this.isAnswered);
    } catch (error) {
      this.fail(error);
    }
  }

  private readonly isAnswered = (error: ServiceError | undefined, answer: Buffer): void => {
    const { admitted, asked } = this;
    if (this.state !== 'sent' || admitted === undefined) return;
    if (error !== undefined) return this.fail(error);
    this.state = 'over';
    admitted.reportAnswerTime(performance.now() - this.sentAt);
    admitted.replaceBodyWithAnswer(answer.length);
    sendDirect(asked.response, answer, asked.context);
    admitted.releaseAfter(asked.response);
  };

  private solveRequest(): SolveRequest {
    const { viewer, path, context } = this.asked;
    const { receivedAt, requestId, traceparent } = context;
    const { asset, slug, selector, explain } = path;
    return { viewer, asset, slug, selector, explain, receivedAt, requestId, traceparent };
  }

  /** The client disconnected before its body was complete, so nobody waits for an answer. */
  private isClosed(): void {
    if (this.state === 'reading') this.end();
  }

  private handOver(admitted: AdmittedRequest, body: Buffer): void {
    this.state = 'over';
    setCommonHeaders(this.asked.response, this.asked.context);
    this.services.answerList({ ...this.asked, admitted, body });
  }

  private fail(error: unknown): void {
    const { request, response, context } = this.asked;
    this.services.refusals?.ofRequest().note(this.solveRequest(), error);
    this.end();
    // The rest of the body is discarded.
    request.resume();
    setCommonHeaders(response, context);
    sendError(response, error, context);
  }

  private end(): void {
    this.state = 'over';
    this.services.bodies.delete(this);
    this.admitted?.releaseAfter(this.asked.response);
  }
}

const NO_BYTES = Buffer.alloc(0);
