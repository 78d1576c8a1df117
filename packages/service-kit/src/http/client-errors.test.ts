import { Server } from 'node:http';
import { PassThrough } from 'node:stream';
import { handleClientErrors } from './client-errors';

let server: Server;
let socket: PassThrough;
let refused: number[];

beforeEach(() => {
  server = new Server();
  socket = new PassThrough();
  refused = [];
  handleClientErrors(server, (status) => refused.push(status));
});
afterEach(() => socket.destroy());

const fail = (code: string): void => void server.emit('clientError', Object.assign(new Error('bad'), { code }), socket);

it.each([
  ['HPE_INVALID_METHOD', 400],
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
])('refuses %s with %i, and leaves the client time to read it', (code, status) => {
  fail(code);
  expect(refused).toEqual([status]);
  expect(socket.writableEnded).toBe(true);
  expect(socket.destroyed).toBe(false);
});

it('ignores bytes after a refused request', () => {
  for (let time = 0; time < 5; time += 1) fail('HPE_INVALID_METHOD');
  expect(refused).toEqual([400]);
  expect(socket.destroyed).toBe(false);
});

it('sends nothing to a client that has disconnected', () => {
  fail('ECONNRESET');
  expect(refused).toEqual([]);
  expect(socket.destroyed).toBe(true);
});

it('sends nothing if the socket is not writable', () => {
  socket.end();
  fail('HPE_INVALID_METHOD');
  expect(refused).toEqual([]);
  expect(socket.destroyed).toBe(true);
});
