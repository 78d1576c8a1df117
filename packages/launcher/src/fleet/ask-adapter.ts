import { Agent, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { type ServiceName } from '@decision/contracts';
import { PROXY_SECRET_HEADER } from '@decision/service-kit';
import { SESSION_HEADER } from '@decision/sessions';
import { hopFree } from './hop-headers';

/** The adapter's answer about an admitted person. */
export interface LetIn {
  /** Headers for the service; undefined for a path without a session. */
  readonly session: string | undefined;
  /** Cookies for the browser. */
  readonly cookies: readonly string[];
}

interface Outcomes {
  readonly letIn: (letIn: LetIn) => void;
  /** Called with the refusal of the adapter, which becomes the answer. */
  readonly refuse: (answer: IncomingMessage) => void;
  /** Called with the reason why the adapter did not answer. */
  readonly fail: (sentence: string) => void;
}

/** Asks the adapter whether to admit requests of people. */
export interface Asker {
  readonly agent: Agent;
  /** Not called for requests with an API key, probes, and the adapter's own paths. */
  isNeeded(incoming: IncomingMessage, path: string, service: ServiceName): boolean;
  /** Asks, and calls exactly one of the outcomes, or none if the client has gone. */
  about(incoming: IncomingMessage, outgoing: ServerResponse, outcomes: Outcomes): void;
}

interface AskerOptions {
  readonly urlOf: (service: ServiceName) => string | undefined;
  readonly proxySecret: string;
}

const ADAPTER: ServiceName = 'auth-proxy-adapter';
/** Paths of probes, which answer even if nobody can be admitted. */
const PROBES: ReadonlySet<string> = new Set(['/health', '/ready', '/api/health', '/api/metrics']);
/** Longer than the adapter takes to admit a new person, ms. */
const DEADLINE_MS = 10_000;
/** Maximum concurrent questions, so that the adapter is not flooded. Further requests are answered 503. */
const MAX_ASKED = 512;
const MAX_SOCKETS = 64;

/** Headers of the request that are not sent with the question: those of the body, and those that the ingress sets. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['content-length', 'content-type', 'content-encoding', 'expect', 'accept-encoding'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-uri', 'x-forwarded-method'],
  ...['x-original-uri', 'x-original-url', PROXY_SECRET_HEADER, SESSION_HEADER],
]);

export const createAsker = ({ urlOf, proxySecret }: AskerOptions): Asker => {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  let asked = 0;
  return {
    agent,
    isNeeded: ({ headers }, path, service) =>
      service !== ADAPTER && headers['x-api-key'] === undefined && !PROBES.has(path),
    about: (incoming, outgoing, outcomes) => {
      const url = urlOf(ADAPTER);
      if (url === undefined)
        return outcomes.fail(
          `The service ${ADAPTER}, which knows people, is starting or was restarted; try again in a moment.`,
        );
      if (asked >= MAX_ASKED)
        return outcomes.fail('Too many requests of people wait to be let in; try again in a moment.');
      asked += 1;
      ask({ url, agent, proxySecret }, incoming, outgoing, outcomes, () => {
        asked -= 1;
      });
    },
  };
};

interface Question {
  readonly url: string;
  readonly agent: Agent;
  readonly proxySecret: string;
}

const ask = (
  { url, agent, proxySecret }: Question,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  outcomes: Outcomes,
  onEnd: () => void,
): void => {
  const { hostname, port } = new URL(url);
  const question = httpRequest({
    ...{ hostname, port, agent, method: 'GET', path: '/auth/check?redirects=true' },
    headers: questionHeaders(incoming, proxySecret),
  });
  let isSettled = false;
  const settle = (act: () => void): void => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    outgoing.off('close', giveUp);
    onEnd();
    act();
  };
  const giveUp = (): void => settle(() => void question.destroy());
  const timer = setTimeout(() => {
    settle(() => outcomes.fail(`The service ${ADAPTER} did not say within ${DEADLINE_MS} ms who asks; try again.`));
    question.destroy();
  }, DEADLINE_MS);
  outgoing.once('close', giveUp);
  question.once('response', (answer) =>
    settle(() => {
      if (answer.statusCode !== 200) return outcomes.refuse(answer);
      answer.resume();
      const session = answer.headers[SESSION_HEADER];
      outcomes.letIn({
        session: typeof session === 'string' && session !== '' ? session : undefined,
        cookies: answer.headers['set-cookie'] ?? [],
      });
    }),
  );
  question.on('error', () =>
    settle(() => outcomes.fail(`The service ${ADAPTER}, which knows people, did not answer; it may be restarting.`)),
  );
  question.end();
};

/** Every header as received, so that duplicates are visible; then those of the ingress. */
const questionHeaders = (incoming: IncomingMessage, proxySecret: string): string[] => {
  const raw = hopFree(incoming.rawHeaders);
  const kept: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (!LEFT_OUT.has(name.toLowerCase())) kept.push(name, raw[index + 1] ?? '');
  }
  return [
    ...kept,
    ...['x-forwarded-for', incoming.socket.remoteAddress ?? '', 'x-forwarded-proto', 'http'],
    ...['x-forwarded-host', incoming.headers.host ?? '', PROXY_SECRET_HEADER, proxySecret],
    ...['x-forwarded-method', incoming.method ?? 'GET', 'x-forwarded-uri', incoming.url ?? '/'],
  ];
};
