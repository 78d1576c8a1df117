import { connect } from 'node:net';

const HOST = '127.0.0.1';
const ANSWER_LIMIT = 64 * 1024;
const ANSWER_DEADLINE_MS = 1_000;

/**
 * Connects to a loopback port, sends the bytes, and resolves with the bytes received as soon as `isComplete` accepts it. Undefined if
 * nothing listens, the connection ends early, or one second passes.
 */
export const exchange = (
  port: number,
  request: Buffer,
  isComplete: (answer: Buffer) => boolean,
): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    let answer = Buffer.alloc(0);
    const socket = connect({ host: HOST, port });
    const finish = (result: Buffer | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => finish(undefined), ANSWER_DEADLINE_MS);
    socket.on('connect', () => socket.write(request));
    socket.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      if (isComplete(answer)) finish(answer);
      else if (answer.length > ANSWER_LIMIT) finish(undefined);
    });
    socket.on('error', () => finish(undefined));
    socket.on('close', () => finish(undefined));
  });
