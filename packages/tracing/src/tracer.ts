import { type TraceContext } from './trace-context';

/** Role of a span: it answers somebody, asks somebody, or is work in between. */
export type SpanKind = 'server' | 'client' | 'internal';

/** Facts about a span. They are exported: no value of a client, no secret. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** Of few: it names the kind of work, never an id. */
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes?: SpanAttributes;
}

/** A piece of work in a trace. */
export interface Span {
  readonly context: TraceContext;
  /** Whether the span is exported; a span that is not has ids all the same. */
  readonly isRecorded: boolean;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Ends the span now; later calls do nothing. `failure` is a code, undefined where the work succeeded. */
  end(failure?: string): void;
}

/** Begins the spans of a process. */
export interface Tracer {
  /** Begins a span below the one that the header `traceparent` names; undefined or malformed: in a trace of its own, which is recorded or not as sampling decides. */
  start(options: SpanOptions, traceparent: string | undefined): Span;
  /** Begins a span below another one of this process. */
  startBelow(options: SpanOptions, parent: Span): Span;
  /** Runs work during which the span is {@link current}, in everything that the work awaits too. */
  within<T>(span: Span, work: () => T): T;
  /** The recorded span that runs now. */
  current(): Span | undefined;
}

let installed: Tracer | undefined;

/** The tracer of this process; undefined where none was installed, which is the usual case. */
export const tracer = (): Tracer | undefined => installed;

/** Makes a tracer that of this process; undefined takes it away. */
export const installTracer = (one: Tracer | undefined): void => {
  installed = one;
};

/** Runs work as a span below the current one. Where there is none, or nothing is recorded, the work runs alone. */
export const traced = <T>(describe: () => SpanOptions, work: () => Promise<T>): Promise<T> => {
  const current = installed?.current();
  if (installed === undefined || current === undefined) return work();
  const span = installed.startBelow(describe(), current);
  return endWith(span, installed.within(span, work));
};

/** Ends a span when the work has ended; resolves and rejects as the work does. */
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

/** Name of a failure, which never carries a value: its code, else its class. */
const failureOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
};
