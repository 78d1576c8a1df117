import { randomUUID } from 'node:crypto';
import { type AssetKind, type ErrorCode, errorCodes, failedResult, ServiceError } from '@decision/contracts';
import { type DecisionLogWriter } from '@decision/execution';
import { type Identity } from '@decision/service-kit';
import { type OpenSolve, type SolveRequest } from './solve';

/** A refused or abandoned request: its caller and target. */
interface RefusedRequest extends Pick<SolveRequest, 'receivedAt' | 'requestId' | 'traceparent'> {
  readonly viewer: Pick<Identity, 'workspaceId' | 'actor'>;
  readonly asset: AssetKind;
  /** Empty if the request names several, like the selector. */
  readonly slug: string;
  readonly selector: string;
}

/** Records the requests that no worker sees. */
export interface Refusals {
  /** Starts to watch a request; each of its targets counts once. */
  ofRequest(): RequestRefusals;
  /** Writes the noted refusals. */
  flush(): void;
}

/** The refusals of one request. */
interface RequestRefusals {
  /** The same function, but it notes a refusal of a rule or flow with its name, once for any number of failed chunks. */
  watched(openSolve: OpenSolve): OpenSolve;
  /** Notes that the request was refused, unless a refusal of one of its targets has been noted. Never throws. */
  note(request: RefusedRequest, error: unknown): void;
  /** Notes that one of its targets was refused before it was opened, unless the same failure has been noted. Never throws. */
  noteEntry(request: RefusedRequest, error: unknown): void;
}

interface RefusalsOptions {
  readonly decisions: DecisionLogWriter;
  /** Called with refusals that are recorded, and with those beyond the bound. */
  readonly onNoted: (outcome: 'logged' | 'not_logged') => void;
}

/** Refusals of one kind within this time become one record, ms. */
const PERIOD_MS = 1_000;
/** Most kinds of refusals within that time. */
const MOST_KINDS = 1_000;

/** Statuses with which a gateway refuses or gives up requests. A result that is too large was evaluated, and its worker reports it. */
const isRefusal = (code: ErrorCode): boolean =>
  [413, 429, 503, 504].includes(errorCodes[code].status) && code !== 'result_too_large';

interface Kind {
  readonly request: RefusedRequest;
  readonly error: ServiceError;
  count: number;
}

/**
 * Gathers refusals for a second: those with the same key, target and code become one record with the ids of the first ones and their number. A
 * flood of refusals costs a map of counters.
 */
export const createRefusals = ({ decisions, onNoted }: RefusalsOptions): Refusals => {
  let kinds = new Map<string, Kind>();
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const records = kinds;
    kinds = new Map();
    for (const kind of records.values()) write(decisions, kind);
  };
  const note = (request: RefusedRequest, error: ServiceError): void => {
    const { viewer, asset, slug, selector } = request;
    const key = JSON.stringify([viewer.workspaceId, viewer.actor, asset, slug, selector, error.code]);
    const known = kinds.get(key);
    if (known === undefined && kinds.size >= MOST_KINDS) return onNoted('not_logged');
    if (known === undefined) kinds.set(key, { request, error, count: 1 });
    else known.count += 1;
    onNoted('logged');
    timer ??= setTimeout(flush, PERIOD_MS).unref();
  };
  return { ofRequest: () => new WatchedRequest(note), flush };
};

class WatchedRequest implements RequestRefusals {
  /** Failures that have been noted; other requests that waited for the same result may share a failure. */
  private noted: Set<unknown> | undefined;

  constructor(private readonly onRefused: (request: RefusedRequest, error: ServiceError) => void) {}

  watched(openSolve: OpenSolve): OpenSolve {
    return async (request) => {
      let isNoted = false;
      const noting = async <T>(work: Promise<T>): Promise<T> => {
        try {
          return await work;
        } catch (error) {
          if (isNoted) this.noted?.add(error);
          else isNoted = this.noteOnce(request, error);
          throw error;
        }
      };
      const opened = await noting(openSolve(request));
      return { ...opened, evaluate: (...input) => noting(opened.evaluate(...input)) };
    };
  }

  note(request: RefusedRequest, error: unknown): void {
    if (this.noted === undefined) this.noteOnce(request, error);
  }

  noteEntry(request: RefusedRequest, error: unknown): void {
    if (this.noted?.has(error) !== true) this.noteOnce(request, error);
  }

  /** Answers whether it is a refusal. */
  private noteOnce(request: RefusedRequest, error: unknown): boolean {
    if (!(error instanceof ServiceError) || !isRefusal(error.code)) return false;
    this.noted ??= new Set();
    this.noted.add(error);
    this.onRefused(request, error);
    return true;
  }
}

const write = (decisions: DecisionLogWriter, { request, error, count }: Kind): void => {
  const { viewer, asset, slug, selector, receivedAt, requestId, traceparent } = request;
  const envelope = {
    ...{ requester: 'gateway', correlationId: randomUUID(), replyPartition: 0, deadline: 0, kind: 'solve' as const },
    ...{ workspaceId: viewer.workspaceId, versionId: '', asset, receivedAt, explain: 'none' as const },
    ...{ requestId, traceparent, origin: { keyId: viewer.actor, slug, selector, firstIndex: 0 } },
  };
  const { message, code } = error;
  decisions.write(envelope, [
    { request: 'null', result: failedResult({ message, code }), error, matched: [], durationUs: 0, standsFor: count },
  ]);
};
