/** An error as it is logged: what it is, where it came from and what caused it, and nothing that it was about. */
interface DescribedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: DescribedError;
  /** The parts of an `AggregateError`, at most five. */
  readonly errors?: readonly DescribedError[];
}

const MAX_MESSAGE = 2_000;
const MAX_STACK = 8_000;
const MAX_CAUSES = 4;
const MAX_PARTS = 5;

/**
 * Describes whatever was thrown. Only type, code, message, stack and causes are kept: drivers hang queries, parameters and rows on
 * their errors, and those are payload.
 */
export const describeError = (error: unknown, depth = 0): DescribedError => {
  if (!(error instanceof Error)) return { type: typeof error, message: describeThrown(error) };
  const { code, cause } = error as Error & { code?: unknown }; // many drivers add a code
  return {
    type: error.name,
    message: shorten(messageOf(error), MAX_MESSAGE),
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
    ...(error.stack === undefined ? {} : { stack: shorten(stackOf(error, error.stack), MAX_STACK) }),
    ...(cause === undefined || depth >= MAX_CAUSES ? {} : { cause: describeError(cause, depth + 1) }),
    ...(error instanceof AggregateError && depth < MAX_CAUSES ? { errors: parts(error, depth) } : {}),
  };
};

/** A syntax error quotes what was read, which can be a payload: its message is left out. */
const messageOf = (error: Error): string =>
  error instanceof SyntaxError ? 'the message is left out, since it quotes what was read' : error.message;

/** The stack begins with the message. */
const stackOf = (error: Error, stack: string): string =>
  error instanceof SyntaxError ? stack.replace(error.message, () => messageOf(error)) : stack;

const parts = ({ errors }: AggregateError, depth: number): DescribedError[] =>
  errors.slice(0, MAX_PARTS).map((part) => describeError(part, depth + 1));

/** Something thrown that is no error: text is kept, anything else could be a payload. */
const describeThrown = (thrown: unknown): string =>
  typeof thrown === 'string' ? shorten(thrown, MAX_MESSAGE) : 'something that is not an error was thrown';

const shorten = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}...` : text);
