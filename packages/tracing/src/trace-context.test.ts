import { continueTrace, formatTraceparent, parseTraceparent } from './trace-context';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('a process that records no traces', () => {
  it('continues the trace of a header with a new span', () => {
    const context = continueTrace(`00-${TRACE}-${SPAN}-01`);
    expect(context).toMatchObject({ traceId: TRACE, flags: 1 });
    expect(context.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(context.spanId).not.toBe(SPAN);
    expect(formatTraceparent(context)).toBe(`00-${TRACE}-${context.spanId}-01`);
  });

  it('accepts a later version, which may contain more, and answers as version 00', () => {
    expect(continueTrace(`cc-${TRACE}-${SPAN}-01-what-the-future-holds`)).toMatchObject({ traceId: TRACE });
    expect(formatTraceparent(continueTrace(`cc-${TRACE}-${SPAN}-00`))).toMatch(/^00-/);
  });

  it.each([
    undefined,
    '',
    'junk',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `cc-${TRACE}-${SPAN}-01more`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  ])('begins a new trace for %j', (header) => {
    const context = continueTrace(header);
    expect(context.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(context.traceId).not.toBe(TRACE);
    expect(formatTraceparent(context)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });

  it('never gives two requests the same id', () => {
    // More than the pool of random bytes contains, so that it is refilled in between.
    const ids = Array.from({ length: 2_000 }, () => continueTrace(undefined)).flatMap(({ traceId, spanId }) => [
      traceId,
      spanId,
    ]);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

it('keeps unknown flags', () => {
  const header = `00-${TRACE}-${SPAN}-a3`;
  expect(formatTraceparent(parseTraceparent(header) ?? continueTrace(undefined))).toBe(header);
});
