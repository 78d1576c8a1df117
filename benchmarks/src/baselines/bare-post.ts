import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';

/** The minimum that a Node server does for a request with a body: it reads the body and answers. Prints its address and its process id. */
const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces);
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length });
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  process.stdout.write(`http://127.0.0.1:${port} ${process.pid}\n`);
});
process.once('SIGTERM', () => process.exit(0));
