import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';

/** Sends the answer to a request. */
type Reply = (status: number, body: Buffer) => void;

/** The minimum that a Node server does for a request with a body: it reads the body and replies. Answers its address. */
export const serveBodies = async (answer: (body: Buffer, reply: Reply) => void): Promise<string> => {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () =>
      answer(Buffer.concat(pieces), (status, body) => {
        response.writeHead(status, {
          'content-type': 'application/json; charset=utf-8',
          'content-length': body.length,
        });
        response.end(body);
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return `http://127.0.0.1:${port}`;
};
