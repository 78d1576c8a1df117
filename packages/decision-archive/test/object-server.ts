import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request as ask, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { startObjectStore } from '@decision/local-stack';

/** What happens to a request. */
export type Fault =
  /** It is forwarded. */
  | 'pass'
  /** It is forwarded, and the connection ends instead of the answer. */
  | 'lose answer'
  /** It is forwarded, and the connection ends in the middle of the answer's body. */
  | 'cut'
  /** Half of its body is forwarded, and both connections end. */
  | 'half'
  /** Nothing is answered. */
  | 'hang'
  /** It is not forwarded; this is answered. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** It is forwarded with other headers, or with a longer path. */
  | { readonly headers: Readonly<Record<string, string | undefined>> }
  | { readonly morePath: string }
  /** It is forwarded, and the answer's body is replaced by this. */
  | { readonly change: (body: string) => string };

/** A request as received, with the path after the bucket. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  /** How often this was asked before. */
  readonly before: number;
}

/** An S3 server with a proxy in front that injects faults. */
export interface ObjectServer {
  /** URL of a separate archive, through the proxy. */
  url(): string;
  /** The fault for each request, until the next call. */
  meet(fault: (asked: Asked) => Fault): void;
  readonly asked: readonly Asked[];
  stop(): Promise<void>;
}

export const startObjectServer = async (): Promise<ObjectServer> => {
  process.env['AWS_ACCESS_KEY_ID'] = 'any';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'any';
  const directory = mkdtempSync(join(tmpdir(), 'archive-objects-'));
  const downloads = join(__dirname, '../../../.local/downloads');
  const store = await startObjectStore({ directory, downloads });
  let faultOf: (asked: Asked) => Fault = () => 'pass';
  let asked: Asked[] = [];
  // The server checks for an object and then stores it, which real stores do in one step.
  let conditional: Promise<unknown> = Promise.resolve();
  const proxy = createServer((incoming, answer) => {
    const { method = '', url: path = '' } = incoming;
    const before = asked.filter((one) => one.method === method && one.path === path).length;
    asked.push({ method, path, before });
    const fault = faultOf({ method, path, before });
    const work = (): Promise<void> => serve(store.endpoint, incoming, answer, fault).catch(() => void answer.destroy());
    if (incoming.headers['if-none-match'] === undefined || fault === 'hang') void work();
    else conditional = conditional.then(work);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo; // it listens on a port
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    url: () => `s3://${store.bucket}/${randomUUID()}?endpoint=${endpoint}&path-style=true&region=us-east-1`,
    meet: (fault) => {
      faultOf = fault;
      asked = [];
    },
    get asked() {
      return asked;
    },
    stop: async () => {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
      await store.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

const serve = async (
  endpoint: string,
  incoming: IncomingMessage,
  answer: ServerResponse,
  fault: Fault,
): Promise<void> => {
  const body = await buffer(incoming);
  if (fault === 'hang') return;
  if (typeof fault === 'object' && 'status' in fault) {
    answer.writeHead(fault.status, fault.headers).end(fault.body);
    return;
  }
  const headers = { ...incoming.headers, ...(typeof fault === 'object' && 'headers' in fault ? fault.headers : {}) };
  const { expect: _, ...rest } = headers;
  const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const path = `${incoming.url ?? ''}${typeof fault === 'object' && 'morePath' in fault ? fault.morePath : ''}`;
  const got = await new Promise<IncomingMessage>((resolve, reject) => {
    const handedOn = ask(`${endpoint}${path}`, { method: incoming.method, headers: known })
      .once('response', resolve)
      .once('error', reject);
    if (fault !== 'half') handedOn.end(body);
    else handedOn.write(body.subarray(0, body.length >> 1), () => handedOn.destroy(new Error('ended half-way')));
  });
  const content = await buffer(got);
  if (fault === 'lose answer') {
    answer.destroy();
    return;
  }
  if (typeof fault === 'object' && 'change' in fault) {
    const { 'content-length': _length, 'transfer-encoding': _encoding, ...others } = got.headers;
    answer.writeHead(got.statusCode ?? 502, others).end(fault.change(content.toString()));
    return;
  }
  answer.writeHead(got.statusCode ?? 502, got.headers);
  if (fault !== 'cut') answer.end(content);
  else answer.write(content.subarray(0, content.length >> 1), () => answer.destroy());
};
