export { openTracing } from './open-tracing';
export { continueTrace, formatTraceparent } from './trace-context';
export { endWith, type Span, type SpanOptions, traced, tracer } from './tracer';
