import { type Chunk } from './chunk';
import { type Splitter } from './splitter';

/** The chunks of a body, each as soon as it is complete. */
export async function* splitBody(
  pieces: AsyncIterable<Buffer>,
  splitter: Splitter,
): AsyncGenerator<Chunk, void, undefined> {
  for await (const piece of pieces) yield* splitter.write(piece);
  yield* splitter.end();
}
