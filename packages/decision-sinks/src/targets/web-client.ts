import { Agent } from 'undici';
import { type WebSettings } from '../reading/sink-settings';
import { type SendOutcome } from './target';

/** An answer of a sink. */
export interface WebAnswer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

interface WebRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Posts to a sink. */
interface WebClient {
  /** Posts, and interprets the answer: by `read` for a success status, otherwise by the status. Never rejects. */
  post(request: WebRequest, read: (answer: WebAnswer) => SendOutcome): Promise<SendOutcome>;
  stop(): Promise<void>;
}

/** Maximum bytes of an answer. */
const LARGEST_ANSWER = 16_777_216;
/** Characters of an answer that are kept with refused records. */
const LONGEST_DETAIL = 1_000;
const CONNECT_MS = 10_000;
const CONNECTIONS = 4;
/** Statuses that blame the content. All others, such as those of wrong addresses and credentials, blame the sink's settings or state. */
const BLAMES_RECORDS: readonly number[] = [400, 413, 422];

/** Whether a status says that sending the same again cannot help. */
export const blamesRecords = (status: number): boolean => BLAMES_RECORDS.includes(status);

/** Makes a client whose requests take at most `timeoutMs`. It follows no redirects: the content is meant only for this address. */
export const createWebClient = ({ headers: own }: WebSettings, timeoutMs: number): WebClient => {
  const agent = new Agent({
    ...{ connections: CONNECTIONS, pipelining: 1, connect: { timeout: CONNECT_MS } },
    // Only the deadline of the request counts.
    ...{ headersTimeout: 0, bodyTimeout: 0 },
  });
  return {
    post: async (request, read) => {
      const origin = request.url.origin;
      let isLate = false;
      const cut = new AbortController();
      const end = (): void => cut.abort();
      const timer = setTimeout(() => {
        isLate = true;
        end();
      }, timeoutMs);
      request.signal.addEventListener('abort', end);
      if (request.signal.aborted) end();
      try {
        const headers = { ...own, ...request.headers };
        const answer = await exchange(agent, { ...request, headers, signal: cut.signal });
        return answer.status >= 200 && answer.status < 300 ? read(answer) : outcomeOf(answer, origin);
      } catch (error) {
        if (isLate) return unavailable(`${origin} did not answer within ${timeoutMs} ms`);
        if (error instanceof AnswerTooLarge)
          return unavailable(`${origin} answered with more than ${LARGEST_ANSWER} bytes`);
        const { code = 'unknown' } = error as NodeJS.ErrnoException; // any value has members, perhaps undefined
        return unavailable(`${origin} could not be asked (${code})`);
      } finally {
        clearTimeout(timer);
        request.signal.removeEventListener('abort', end);
      }
    },
    stop: () => agent.destroy(),
  };
};

class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

const exchange = async (agent: Agent, request: WebRequest): Promise<WebAnswer> => {
  const { url, headers, body, signal } = request;
  const {
    statusCode,
    headers: answered,
    body: stream,
  } = await agent.request({
    ...{ origin: url.origin, path: `${url.pathname}${url.search}`, method: 'POST', body },
    headers: { 'accept-encoding': 'identity', ...headers },
    signal,
  });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LARGEST_ANSWER) throw new AnswerTooLarge();
    chunks.push(chunk);
  }
  return { status: statusCode, headers: answered, text: Buffer.concat(chunks).toString() };
};

export const unavailable = (reason: string, detail?: string): SendOutcome => ({
  kind: 'unavailable',
  reason,
  detail: detail?.slice(0, LONGEST_DETAIL),
});

/** Meaning of a status other than success. */
export const outcomeOf = ({ status, headers, text }: WebAnswer, origin: string): SendOutcome => {
  const reason = `${origin} answered ${status}`;
  const detail = text.slice(0, LONGEST_DETAIL);
  if (blamesRecords(status)) return { kind: 'refused', reason, detail };
  return { kind: 'unavailable', reason, detail, retryAfterMs: retryAfterOf(headers['retry-after']) };
};

/** The header has seconds, or a date. */
const retryAfterOf = (header: string | string[] | undefined): number | undefined => {
  if (typeof header !== 'string') return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
};

/** The answer's JSON object; undefined if it is not one. */
export const objectOf = ({ text }: WebAnswer): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};
