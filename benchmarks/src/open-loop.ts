import { connect, type Socket } from 'node:net';
import { summarise, type Measurement } from './measurement';

type Headers = Readonly<Record<string, string>>;

interface OpenLoop {
  readonly url: string;
  /** A function returns new ones for each request. */
  readonly headers: Headers | (() => Headers);
  readonly body: string;
  /** Requests started per second, evenly, whether or not earlier ones have been answered. */
  readonly perSecond: number;
  readonly seconds: number;
  /** Connections; a request that finds none free is counted and not sent. */
  readonly connections: number;
}

interface OpenLoopResult {
  /** Requests answered 200; errors are answers other than 200 and 429, and cut connections. */
  readonly admitted: Measurement;
  /** Requests answered 429, per second. */
  readonly refused: number;
  /** Requests per second without a free connection. */
  readonly unsent: number;
}

const HEAD_END = '\r\n\r\n';
const STATUS_AT = 9;
/** How often due requests are started, ms. */
const TICK_MS = 2;
/** How long to wait for the last answers, ms. */
const DRAIN_MS = 2_000;

/**
 * Sends requests at a rate that does not depend on the answers, as a crowd does. Requests are written as bytes and answers are read only as far
 * as needed to find their end, because a client library would cost as much as the measured work.
 */
export const measureOpenLoop = async (options: OpenLoop): Promise<OpenLoopResult> => {
  const { perSecond, seconds, connections } = options;
  const { headers } = options;
  const fixed = typeof headers === 'function' ? undefined : requestBytes(options, headers);
  const bytes = (): Buffer => fixed ?? requestBytes(options, typeof headers === 'function' ? headers() : headers);
  const { hostname, port } = new URL(options.url);
  const answered: number[] = [];
  const counts = { refused: 0, failed: 0, unsent: 0 };
  const free: Connection[] = [];
  const all: Connection[] = [];
  const onAnswer = (connection: Connection, status: number | undefined, ms: number): void => {
    if (status === 200) answered.push(ms);
    else if (status === 429) counts.refused += 1;
    else counts.failed += 1;
    if (status !== undefined) free.push(connection);
  };
  // Opened one after the other, and before any request: a burst overflows the server's queue of new connections, and the system retries only a
  // second later.
  while (all.length < connections) all.push(await openConnection(Number(port), hostname, onAnswer));
  free.push(...all);
  const ask = (): void => {
    let connection = free.pop();
    while (connection?.isClosed === true) connection = free.pop();
    if (connection === undefined) counts.unsent += 1;
    else connection.ask(bytes());
  };
  const beganAt = performance.now();
  let begun = 0;
  while (performance.now() - beganAt < seconds * 1_000) {
    const due = Math.floor(((performance.now() - beganAt) / 1_000) * perSecond);
    for (; begun < due; begun += 1) ask();
    await pause(TICK_MS);
  }
  const elapsed = (performance.now() - beganAt) / 1_000;
  const drainedBy = performance.now() + DRAIN_MS;
  while (all.some(({ isBusy }) => isBusy) && performance.now() < drainedBy) await pause(TICK_MS);
  for (const connection of all) connection.close();
  return {
    admitted: summarise(answered, elapsed, counts.failed),
    refused: counts.refused / elapsed,
    unsent: counts.unsent / elapsed,
  };
};

const openConnection = (port: number, host: string, onAnswer: OnAnswer): Promise<Connection> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, host, () => resolve(new Connection(socket, onAnswer))).once('error', reject);
  });

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const requestBytes = ({ url, body }: OpenLoop, headers: Headers): Buffer => {
  const { pathname, host } = new URL(url);
  const all = {
    host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from([`POST ${pathname} HTTP/1.1`, ...lines].join('\r\n') + HEAD_END + body);
};

type OnAnswer = (connection: Connection, status: number | undefined, ms: number) => void;

/** One connection with one request at a time. */
class Connection {
  isBusy = false;
  isClosed = false;
  private askedAt = 0;
  private received = '';

  constructor(
    private readonly socket: Socket,
    private readonly onAnswer: OnAnswer,
  ) {
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (text: string) => this.receive(text));
    socket.on('error', () => undefined).on('close', () => this.closed());
  }

  ask(bytes: Buffer): void {
    this.isBusy = true;
    this.askedAt = performance.now();
    this.socket.write(bytes);
  }

  close(): void {
    this.isClosed = true;
    this.socket.destroy();
  }

  private receive(text: string): void {
    this.received += text;
    const headEnd = this.received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(this.received)?.[1] ?? 0);
    if (this.received.length < headEnd + HEAD_END.length + length) return;
    const status = Number(this.received.slice(STATUS_AT, STATUS_AT + 3));
    this.received = '';
    this.isBusy = false;
    this.onAnswer(this, status, performance.now() - this.askedAt);
  }

  private closed(): void {
    const wasBusy = this.isBusy && !this.isClosed;
    this.isBusy = false;
    this.isClosed = true;
    if (wasBusy) this.onAnswer(this, undefined, 0);
  }
}
