import { asFunction, CodeEngine, isTooDeep, LINES_BEFORE } from './engine';

/** Position of a syntax error; line and column count from 1. */
export interface SyntaxFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Memory for parsing code, bytes. */
const MEMORY_BYTES = 32 * 1_024 * 1_024;

const engine = new CodeEngine(MEMORY_BYTES);

/** Parses the code of a node without running it; answers the first fault, or undefined. */
export const findSyntaxFault = async (source: string): Promise<SyntaxFault | undefined> => {
  const lines = source.split('\n');
  try {
    return await engine.use(
      () => false,
      (context) => {
        const reading = context.evalCode(asFunction(source), 'code', { compileOnly: true });
        if (!('error' in reading) || reading.error === undefined) {
          reading.value.dispose();
          return undefined;
        }
        const { message, stack } = context.dump(reading.error) as {
          readonly message?: string;
          readonly stack?: string;
        };
        reading.error.dispose();
        const [, line = '', column = ''] = /code:(\d+):(\d+)/.exec(stack ?? '') ?? [];
        return within(lines, Number(line) - LINES_BEFORE, Number(column), message ?? 'it cannot be read');
      },
    );
  } catch (error) {
    if (!isTooDeep(error)) throw error;
    return { line: 1, column: 1, message: 'the code nests too deep' };
  }
};

/** A fault in the wrapper around the code, for instance because a brace is missing, is reported at the end of the code. */
const within = (lines: readonly string[], line: number, column: number, message: string): SyntaxFault =>
  line >= 1 && line <= lines.length
    ? { line, column: Math.max(1, column), message }
    : { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, message: `${message} at the end of the code` };
