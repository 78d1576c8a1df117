import { AsyncLocalStorage } from 'node:async_hooks';
import type * as Api from '@opentelemetry/api';
import type * as Exporters from '@opentelemetry/exporter-trace-otlp-proto';
import type * as Resources from '@opentelemetry/resources';
import type * as Sdk from '@opentelemetry/sdk-trace';
import { parseTraceparent, type TraceContext } from './trace-context';
import { installTracer, type Span, type SpanAttributes, type SpanOptions, type Tracer } from './tracer';

/** Destination and sampling of traces. */
interface TracingSettings {
  /** Name of the service in every trace. */
  readonly service: string;
  /** Further facts about this process, in every trace. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Address of the collector; `/v1/traces` is appended (OTLP over HTTP, protobuf). */
  readonly endpoint: string;
  /** Sent with every export. */
  readonly headers: Readonly<Record<string, string>>;
  /** PEM text of the authorities behind the certificate of the collector; undefined: the system's. */
  readonly authorities: string | undefined;
  /** Fraction of the traces begun here that are recorded, 0 to 1. A caller's decision is respected. */
  readonly sampleRatio: number;
  /** Pause between two exports, ms. Default 5,000. */
  readonly exportEveryMs?: number;
}

/** Events of tracing. */
interface TracingEvents {
  /** Spans that have left the process, or were lost because the collector did not accept them. */
  readonly onExport: (spans: number, outcome: 'exported' | 'failed') => void;
  /** The collector no longer accepts spans (a sentence says why), or accepts them again (undefined). */
  readonly onCollector: (fault: string | undefined) => void;
}

/** Traces that are recorded and exported. */
interface Tracing {
  /** Exports the remaining spans and ends. Takes at most the time of one export, 10 s. Idempotent. */
  close(): Promise<void>;
}

/** Spans that wait for their export; further ones are lost. About 1 KiB each. */
const MAX_WAITING_SPANS = 8_192;
const SPANS_PER_EXPORT = 1_024;
const EXPORT_TIMEOUT_MS = 10_000;
const EXPORT_EVERY_MS = 5_000;
/** Maximum characters of a value; longer ones are cut. */
const MAX_VALUE_LENGTH = 1_024;

/** Records the traces of this process from now on. Its libraries are loaded only here: docs/adr/0074-spans-of-our-own.md. */
export const openTracing = async (settings: TracingSettings, events: TracingEvents): Promise<Tracing> => {
  const [api, sdk, exporters, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  const provider = createProvider({ api, sdk, exporters, resources }, settings, events);
  installTracer(new OtlpTracer(api, provider));
  return {
    close: () => {
      installTracer(undefined);
      return provider.shutdown().catch(() => undefined);
    },
  };
};

interface Libraries {
  readonly api: typeof Api;
  readonly sdk: typeof Sdk;
  readonly exporters: typeof Exporters;
  readonly resources: typeof Resources;
}

/** Spans are recorded in memory, within bounds, and exported in the background. */
const createProvider = (
  { sdk, exporters, resources }: Libraries,
  settings: TracingSettings,
  events: TracingEvents,
): Sdk.TracerProvider => {
  const exporter = new exporters.OTLPTraceExporter({
    url: `${settings.endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: { ...settings.headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
    httpAgentOptions: { keepAlive: true, ...(settings.authorities === undefined ? {} : { ca: settings.authorities }) },
  });
  const { service, attributes, sampleRatio, exportEveryMs = EXPORT_EVERY_MS } = settings;
  return new sdk.TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': service, ...attributes }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(sampleRatio) }),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_LENGTH },
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: observed(exporter, events),
        maxQueueSize: MAX_WAITING_SPANS,
        maxExportBatchSize: SPANS_PER_EXPORT,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        scheduledDelayMillis: exportEveryMs,
      }),
    ],
  });
};

/** Counts exported spans, and reports when the exporter begins and ceases to fail. */
const observed = (exporter: Sdk.SpanExporter, { onExport, onCollector }: TracingEvents): Sdk.SpanExporter => {
  let isFailing = false;
  return {
    export: (spans: Sdk.ReadableSpan[], done) =>
      exporter.export(spans, (result) => {
        const { error } = result;
        onExport(spans.length, error === undefined ? 'exported' : 'failed');
        if (isFailing !== (error !== undefined)) onCollector(error?.message);
        isFailing = error !== undefined;
        // The batch processor would write a failure to the console.
        done({ code: 0 });
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
};

class OtlpTracer implements Tracer {
  readonly #spans = new AsyncLocalStorage<Span>();
  readonly #tracer: Api.Tracer;

  constructor(
    private readonly api: typeof Api,
    provider: Sdk.TracerProvider,
  ) {
    this.#tracer = provider.getTracer('decision');
  }

  start(options: SpanOptions, traceparent: string | undefined): Span {
    const parent = traceparent === undefined ? undefined : parseTraceparent(traceparent);
    return this.#begin(options, parent === undefined ? this.api.ROOT_CONTEXT : this.#below(parent, true));
  }

  startBelow(options: SpanOptions, { context }: Span): Span {
    return this.#begin(options, this.#below(context, false));
  }

  within<T>(span: Span, work: () => T): T {
    return span.isRecorded ? this.#spans.run(span, work) : work();
  }

  current(): Span | undefined {
    return this.#spans.getStore();
  }

  #begin({ name, kind, attributes }: SpanOptions, parent: Api.Context): Span {
    const { SERVER, CLIENT, INTERNAL } = this.api.SpanKind;
    const exportedKind = { server: SERVER, client: CLIENT, internal: INTERNAL }[kind];
    const span = this.#tracer.startSpan(name, { kind: exportedKind, attributes: { ...attributes } }, parent);
    return new OtlpSpan(span, this.api.SpanStatusCode.ERROR);
  }

  #below({ traceId, spanId, flags }: TraceContext, isRemote: boolean): Api.Context {
    return this.api.trace.setSpanContext(this.api.ROOT_CONTEXT, { traceId, spanId, traceFlags: flags, isRemote });
  }
}

class OtlpSpan implements Span {
  readonly context: TraceContext;
  readonly isRecorded: boolean;

  constructor(
    private readonly span: Api.Span,
    private readonly error: Api.SpanStatusCode,
  ) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.context = { traceId, spanId, flags: traceFlags };
    this.isRecorded = span.isRecording();
  }

  rename(name: string): void {
    this.span.updateName(name);
  }

  set(attributes: SpanAttributes): void {
    this.span.setAttributes({ ...attributes });
  }

  end(failure?: string): void {
    if (!this.span.isRecording()) return;
    if (failure !== undefined) this.span.setStatus({ code: this.error }).setAttribute('error.type', failure);
    this.span.end();
  }
}
