import { types } from 'node:util';
import { ServiceError } from '@decision/contracts';
import { StartRefusal } from '@decision/service-kit';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Output for operators; each line ends with a line break. */
export type Print = (line: string) => void;

/** Runs an operator's program as this process: its answer is the exit code; a failure prints one sentence and exits with 1. */
export const runCli = (program: (environment: Environment, print: Print) => Promise<number>): void => {
  void program(process.env, (line) => process.stdout.write(`${line}\n`))
    .catch((error: unknown) => {
      process.stderr.write(`${describeFailure(error)}\n`);
      return 1;
    })
    .then((code) => {
      process.exitCode = code;
    });
};

/** The sentence for the operator, followed by the message of the database or the network. */
export const describeFailure = (error: unknown): string => {
  if (!(error instanceof ServiceError)) return error instanceof Error ? error.message : String(error);
  return types.isNativeError(error.cause) ? `${error.message}\n  ${error.cause.message}` : error.message;
};

/** The variable's text. Throws an error with a sentence if it is not set. */
export const requireVariable = (environment: Environment, name: string, example: string): string => {
  const text = environment[name];
  if (text) return text;
  throw new StartRefusal(`${name} is not set. Set it to ${example}.`);
};
