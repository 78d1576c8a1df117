import { Writable } from 'node:stream';
import { type Client } from 'pg';
import { gatherWrites } from './driver-socket';

/** A client whose socket collects its writes: the pieces of each, by their text. */
const watchedClient = () => {
  const writes: string[][] = [];
  const stream = new Writable({
    writev: (pieces, done) => {
      writes.push(pieces.map(({ chunk }: { chunk: Buffer }) => chunk.toString()));
      done();
    },
  });
  const send = (text: string): void => {
    gatherWrites(client);
    // As the driver does for a statement with values.
    stream.cork();
    stream.write(text);
    stream.uncork();
  };
  const client = { connection: { stream } } as unknown as Client; // all that is read of it
  return { client, send, writes };
};

it('sends what is written in one turn in one piece, also from continuations', async () => {
  const { send, writes } = watchedClient();
  send('begin');
  send('first');
  await Promise.resolve();
  send('second');
  expect(writes).toEqual([]);
  await new Promise(setImmediate);
  expect(writes).toEqual([['begin', 'first', 'second']]);
});

it('sends what is written in a later turn in another piece', async () => {
  const { send, writes } = watchedClient();
  send('first');
  await new Promise(setImmediate);
  send('commit');
  await new Promise(setImmediate);
  expect(writes).toEqual([['first'], ['commit']]);
});

it('leaves a client alone that has no socket yet', () => {
  expect(() => gatherWrites({} as Client)).not.toThrow();
});
