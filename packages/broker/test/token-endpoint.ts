import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to the endpoint. */
export interface Asked {
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An endpoint with answers that the test sets. */
export interface TokenEndpoint {
  readonly url: string;
  readonly asked: Asked[];
  /** Sets the answer from now on; with a path, only for requests of that path. */
  answer(status: number, body: string, path?: string): void;
  stop(): Promise<void>;
}

export const startTokenEndpoint = async (): Promise<TokenEndpoint> => {
  const asked: Asked[] = [];
  let next = { status: 500, body: '' };
  const byPath = new Map<string, { status: number; body: string }>();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const { url: path = '', headers } = request;
      asked.push({ path, headers, body });
      const answer = byPath.get(path.replace(/\?.*/, '')) ?? next;
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`, // a listening TCP server has an AddressInfo
    asked,
    answer: (status, body, path) => {
      if (path === undefined) next = { status, body };
      else byPath.set(path, { status, body });
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
};
