import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { ServiceError } from '@decision/contracts';
import { LinesAnswer, sendStream } from './answer';

async function* lines(texts: readonly string[], failure?: Error): AsyncGenerator<string> {
  await Promise.resolve();
  yield* texts;
  if (failure !== undefined) throw failure;
}

/** The part of an answer that a client receives, whether it was cut off, and the sender's outcome. */
const exchange = async (source: AsyncIterable<string>) => {
  let thrown: unknown;
  const server = createServer((_, response) => {
    const context = { signal: new AbortController().signal, requestId: 'r-1' };
    sendStream(response, new LinesAnswer(source), context).catch((error: unknown) => {
      thrown = error;
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  try {
    const response = await fetch(`http://127.0.0.1:${port}`).catch(() => undefined);
    let text = '';
    let isCut = false;
    try {
      for await (const piece of response?.body ?? []) text += Buffer.from(piece).toString();
    } catch {
      isCut = true;
    }
    return { type: response?.headers.get('content-type'), text, isCut, thrown };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
};

it('sends each text as a line', async () => {
  expect(await exchange(lines(['{"a":1}', '{}']))).toEqual({
    type: 'application/x-ndjson; charset=utf-8',
    text: '{"a":1}\n{}\n',
    isCut: false,
    thrown: undefined,
  });
  expect(await exchange(lines([]))).toMatchObject({ text: '' });
});

it('leaves a failure before the first line to the caller, which can still answer', async () => {
  const failure = new ServiceError('overloaded', 'Too much.');
  expect(await exchange(lines([], failure))).toMatchObject({ type: undefined, thrown: failure });
});

it('writes a later failure as the last line, and cuts the connection', async () => {
  const failure = new ServiceError('deadline_exceeded', 'Too late.');
  const { text, isCut, thrown } = await exchange(lines(['{}'], failure));
  expect({ isCut, thrown }).toEqual({ isCut: true, thrown: failure });
  expect(text.split('\n').map((line) => (line === '' ? undefined : (JSON.parse(line) as unknown)))).toEqual([
    {},
    { error: 'Too late.', code: 'deadline_exceeded', request_id: 'r-1' },
    undefined,
  ]);
});
