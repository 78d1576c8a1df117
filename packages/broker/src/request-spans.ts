import type { SolutionRequestEnvelope } from '@decision/contracts';
import { endWith, formatTraceparent, type Span, tracer } from '@decision/tracing';

type Traceable = Pick<SolutionRequestEnvelope, 'kind' | 'traceparent' | 'origin'>;

/** Sends a request in a span that ends with its answer; the spans of the answering side are its children. */
export const tracedRequest = <E extends Traceable>(
  envelope: E,
  send: (envelope: E) => Promise<Buffer>,
): Promise<Buffer> => {
  const span = beginSpan('request', 'client', envelope);
  if (span === undefined) return send(envelope);
  return endWith(span, send({ ...envelope, traceparent: formatTraceparent(span.context) }));
};

/** Handles a request in a span, which is current meanwhile. `waitedMs` is how long the request has waited in this process. */
export const tracedHandling = (
  envelope: SolutionRequestEnvelope,
  waitedMs: number,
  handle: (envelope: SolutionRequestEnvelope) => Promise<Buffer> | Buffer,
): Promise<Buffer> | Buffer => {
  const span = beginSpan('handle', 'server', envelope);
  if (span === undefined) return handle(envelope);
  span.set({ 'decision.waited_ms': Math.round(waitedMs) });
  const traceparent = formatTraceparent(span.context);
  const handled = async (): Promise<Buffer> => handle({ ...envelope, traceparent });
  return endWith(span, tracer()?.within(span, handled) ?? handled());
};

/** Undefined if the trace of the request is not recorded. */
const beginSpan = (
  verb: string,
  kind: 'client' | 'server',
  { kind: work, traceparent, origin }: Traceable,
): Span | undefined => {
  const tracing = traceparent === undefined ? undefined : tracer();
  if (tracing === undefined) return undefined;
  const attributes = {
    'messaging.system': 'kafka',
    ...(origin === undefined ? {} : { 'decision.slug': origin.slug }),
  };
  const span = tracing.start({ name: `${verb} ${work}`, kind, attributes }, traceparent);
  return span.isRecorded ? span : undefined;
};
