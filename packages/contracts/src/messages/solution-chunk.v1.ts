import { type SolutionKind } from './solution-request.v1';

/**
 * The value of a `solution` message of kind `solve-list` or `solve-lines`, version 1: the inputs as the client wrote them, one per line. White
 * space around an input may remain, but no line break within one: the splitter of a body replaces it by a space, which is valid since a JSON
 * string never contains a line break.
 *
 * The value of a successful reply contains one result for each input, in the same order: the outputs, or `{"error", "code"}` if that input
 * failed. Failures of the whole chunk are failed replies.
 */
export type ChunkKind = Extract<SolutionKind, 'solve-list' | 'solve-lines'>;

const LINE_BREAK = 0x0a;

/** The inputs of a chunk, without copying. */
export const chunkInputs = function* (value: Buffer): Generator<Buffer> {
  for (let start = 0; start < value.length;) {
    const found = value.indexOf(LINE_BREAK, start);
    const end = found < 0 ? value.length : found;
    yield value.subarray(start, end);
    start = end + 1;
  }
};

const SEPARATORS: Readonly<Record<ChunkKind, string>> = { 'solve-list': ',\n', 'solve-lines': '\n' };

/** The bytes between two results, including results of different chunks. */
export const resultSeparator = (kind: ChunkKind): string => SEPARATORS[kind];

/** The value of a successful reply. */
export const joinResults = (kind: ChunkKind, results: readonly string[]): Buffer =>
  Buffer.from(results.join(SEPARATORS[kind]));

/** The result of a failed input, as it appears in its slot. */
export const failedResult = (error: { readonly message: string; readonly code: string }): string =>
  JSON.stringify({ error: error.message, code: error.code });
