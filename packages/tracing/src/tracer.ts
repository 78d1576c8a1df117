import { type TraceContext } from './trace-context';

/** Role of a span: it serves a request, makes a request, or is internal work. */
export type SpanKind = 'server' | 'client' | 'internal';

/** Facts about a span. They are exported, so they must not contain values of clients or secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** Low-cardinality: it names the kind of work, never an id. */
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes?: SpanAttributes;
}

/** A piece of work in a trace. */
export interface Span {
  readonly context: TraceContext;
  /** Whether the span is exported; other spans have ids too. */
  readonly isRecorded: boolean;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Ends the span now; later calls do nothing. `failure` is a code, undefined if the work succeeded. */
  end(failure?: string): void;
}

/** Starts the spans of a process. */
export interface Tracer {
  /** Starts a span below the one in the header `traceparent`; undefined or malformed: in a new trace, which sampling may record. */
  start(options: SpanOptions, traceparent: string | undefined): Span;
  /** Starts a span below another one of this process. */
  startBelow(options: SpanOptions, parent: Span): Span;
  /** Runs work during which the span is {@link current}, including in everything that the work awaits. */
  within<T>(span: Span, work: () => T): T;
  /** The current recorded span. */
  current(): Span | undefined;
}

let installed: Tracer | undefined;

/** The tracer of this process; undefined if none was installed, which is the usual case. */
export const tracer = (): Tracer | undefined => installed;

/** Installs the tracer of this process; undefined removes it. */
export const installTracer = (one: Tracer | undefined): void => {
  installed = one;
};

/** Runs work as a span below the current one. Without one, or if nothing is recorded, the work runs without a span. */
export const traced = <T>(describe: () => SpanOptions, work: () => Promise<T>): Promise<T> => {
  const current = installed?.current();
  if (installed === undefined || current === undefined) return work();
  const span = installed.startBelow(describe(), current);
  return endWith(span, installed.within(span, work));
};

/** Ends a span when the work has ended; resolves and rejects like the work. */
export const endWith = async <T>(span: Span, work: Promise<T>): Promise<T> => {
  try {
    const value = await work;
    span.end();
    return value;
  } catch (error) {
    span.end(failureOf(error));
    throw error;
  }
};

/** Name of a failure without any value: its code, else its class. */
const failureOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
};
