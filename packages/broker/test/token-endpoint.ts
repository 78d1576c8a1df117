import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to the endpoint. */
export interface Asked {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An endpoint of the test's own that answers what it is told to. */
export interface TokenEndpoint {
  readonly url: string;
  readonly asked: Asked[];
  answer(status: number, body: string): void;
  stop(): Promise<void>;
}

export const startTokenEndpoint = async (): Promise<TokenEndpoint> => {
  const asked: Asked[] = [];
  let next = { status: 500, body: '' };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      asked.push({ headers: request.headers, body });
      response.writeHead(next.status, { 'content-type': 'application/json' }).end(next.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`, // a listening TCP server has an AddressInfo
    asked,
    answer: (status, body) => {
      next = { status, body };
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
};
