import { ServiceError } from '@decision/contracts';
import { cutToSize } from './cut-record';
import { type SolvedInput, solvedInput } from './solved-input';

const MIB = 1024 * 1024;
const bounds = (decisionBytes: number, messageBytes = 64 * MIB) => ({ decisionBytes, messageBytes });
const text = (length: number, letter = 'x'): string => letter.repeat(length);
const decision = (request: number, response: number, trace?: number): SolvedInput => ({
  ...solvedInput(JSON.stringify({ a: text(request) }), { ok: true, output: { b: text(response) }, matched: [] }, 1),
  pathTrace: trace === undefined ? undefined : `"path_trace":[{"ref":"${text(trace)}"}]`,
});

it('leaves decisions unchanged up to the bound, and marks none as cut', () => {
  const items = [decision(400, 500, 30)];
  const bytes = items.map((item) => `${item.request}${item.result}${item.pathTrace ?? ''}`).join('').length;
  expect(cutToSize(items, bounds(bytes))).toEqual(items);
  expect(cutToSize(items, bounds(bytes - 1))).not.toEqual(items);
});

it('leaves out first the trace, then the longer of request and response, then both', () => {
  const [traced, long, both] = cutToSize(
    [decision(100, 100, 5_000), decision(100, 2_000), decision(2_000, 3_000)],
    bounds(1_000),
  );
  expect(traced).toMatchObject({ ...decision(100, 100), isCut: true });
  expect(long).toMatchObject({ request: decision(100, 0).request, result: '{}', isCut: true });
  expect(both).toMatchObject({ request: 'null', result: '{}', isCut: true });
});

it('counts bytes, not characters', () => {
  const wide = solvedInput(JSON.stringify({ a: text(400, '€') }), { ok: true, output: {}, matched: [] }, 1);
  expect(cutToSize([wide], bounds(1_000))).toMatchObject([{ request: 'null', isCut: true }]);
});

it('keeps the code of a failure with a too long sentence', () => {
  const failed = solvedInput('{}', new ServiceError('evaluation_failed', text(5_000)), 1);
  const [cut] = cutToSize([failed], bounds(1_000));
  expect(JSON.parse(cut?.result ?? '')).toMatchObject({ code: 'evaluation_failed' });
  expect(cut?.result.length).toBeLessThan(100);
});

it('cuts the largest decisions of a message that would not fit its topic, and keeps the small ones', () => {
  const items = [decision(10, 10), decision(3 * MIB, 10), decision(10, 3 * MIB)];
  const cut = cutToSize(items, bounds(64 * MIB, 4 * MIB));
  expect(cut[0]).toEqual(items[0]);
  expect(cut[1]).toMatchObject({ request: 'null', isCut: true });
  expect(cut[2]).toMatchObject({ result: '{}', isCut: true });
});
