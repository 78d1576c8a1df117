import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import { redact, redactValue, scrubText } from './redact';

export type Logger = PinoLogger;
type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

interface LoggerOptions {
  /** Name that every line carries. */
  readonly service: string;
  readonly level: LogLevel;
  /** Destination of lines; default: standard output. Writes are synchronous, so a dying process loses no line. */
  readonly destination?: DestinationStream;
}

/**
 * A logger of JSON lines: `time`, `level` as a word, `service`, `msg` and the fields given. Values of secret names are replaced at any
 * depth, in fields, in bindings of children and in message parameters; errors are reduced to type, code, message, stack and cause; keys and
 * passwords inside text are removed.
 */
export const createLogger = ({ service, level, destination }: LoggerOptions): Logger =>
  redactChildren(
    pino(
      {
        level,
        base: { service },
        timestamp: stdTimeFunctions.isoTime,
        formatters: {
          level: (label) => ({ level: label }),
          log: redact,
        },
        // `redact` has described errors already.
        serializers: { err: (described: unknown) => described },
        hooks: {
          logMethod(args, method) {
            const [first, ...rest] = args;
            method.call(this, first, ...rest.map((value: unknown) => redactValue(value) as string)); // text stays text
          },
          streamWrite: scrubText,
        },
      },
      destination ?? pino.destination({ dest: 1, sync: true }),
    ),
  );

/** Pino passes the bindings of a child to none of its formatters. Children inherit this method. */
const redactChildren = (logger: Logger): Logger => {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called below, on the logger that is asked for a child
  const { child }: { readonly child: MakeChild } = logger;
  const redacting: MakeChild = function (bindings, options) {
    return child.call(this, redact(bindings), options);
  };
  logger.child = redacting as Logger['child']; // it answers what the method of pino answers
  return logger;
};

/** Makes a child of the logger that it is called on. */
type MakeChild = (this: Logger, bindings: object, options?: object) => unknown;
