import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import { redact } from './redact';
import { scrubText } from './scrub-text';

export type Logger = PinoLogger;
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

export interface LoggerOptions {
  /** Name that every line carries. */
  readonly service: string;
  readonly level: LogLevel;
  /** Where lines go; standard output where absent. Writes are synchronous, so a dying process loses no line. */
  readonly destination?: DestinationStream;
}

/**
 * A logger of JSON lines: `time`, `level` as a word, `service`, `msg` and the fields given. Values of secret names are replaced at any
 * depth, errors are reduced to type, code, message, stack and cause, and keys and passwords inside text are taken out.
 */
export const createLogger = ({ service, level, destination }: LoggerOptions): Logger =>
  pino(
    {
      level,
      base: { service },
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        bindings: redact,
        log: redact,
      },
      // `redact` has described errors already.
      serializers: { err: (described: unknown) => described },
      hooks: { streamWrite: scrubText },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  );
