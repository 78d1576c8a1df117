import { ordersIn, outcomeInBatch, outcomeOfRead, outcomeOfSubmission, stateSentIn } from './read-answer';

const state = { id: 'x', a: 1, b: 2, c: null, pair: 1_000_002 };
const seen = { facts: { a: 1, b: 2 }, decided: 1_000_002 };
const submission = (body: object) => outcomeOfSubmission({ status: 200, body: { state, cascaded: [], ...body } }, 'x');

it.each([
  ['ran', { cascaded: [{ status: 'solved' }] }, true],
  ['had nothing to run', { triggered: false, reason: 'inputs_unchanged' }, true],
  ['failed', { cascaded: [{ status: 'infrastructure_error' }] }, false],
  ['was ended', { stopped_by: 'deadline' }, false],
  ['had no workers', { execution_degraded: 'unavailable' }, false],
  ['left it to another', { triggered: false, reason: 'execution_in_progress' }, false],
])('a submission that %s', (_, body, settled) => {
  expect(submission(body)).toEqual({ type: 'seen', seen, settled });
});

it.each([
  ['no answer', undefined, 'unknown'],
  ['nobody listened', { status: 0, body: {} }, 'refused'],
  ['an error that names no commits', { status: 500, body: {} }, 'unknown'],
  ['an error that names this one', { status: 504, body: { committed_instance_ids: ['w', 'x'] } }, 'committed'],
  ['an error that names others only', { status: 504, body: { committed_instance_ids: ['w'] } }, 'refused'],
  [
    'an error that does not know of this one',
    { status: 503, body: { committed_instance_ids: [], unknown_instance_ids: ['w', 'x'] } },
    'unknown',
  ],
  [
    'an error that knows of this one',
    { status: 503, body: { committed_instance_ids: [], unknown_instance_ids: ['w'] } },
    'refused',
  ],
])('%s', (_, answer, type) => {
  expect(outcomeOfSubmission(answer, 'x')).toEqual({ type });
  expect(outcomeInBatch(answer, 'x')).toEqual({ type });
});

it('a batch tells of each instance', () => {
  const results = [{ instance_id: 'x', state, executed: [{ status: 'success' }] }, { instance_id: 'y' }];
  const answer = { status: 200, body: { results } };
  expect(outcomeInBatch(answer, 'x')).toEqual({ type: 'seen', seen, settled: true });
  expect(outcomeInBatch(answer, 'z')).toEqual({ type: 'unknown' });
  const degraded = { status: 200, body: { results, execution_degraded: 'unavailable' } };
  expect(outcomeInBatch(degraded, 'x')).toEqual({ type: 'seen', seen, settled: false });
});

it('a flow that wrote tells what was there then', () => {
  const run = { flow: 'send', status: 'solved', result: { written: state } };
  expect(stateSentIn({ status: 200, body: { cascaded: [run] } })).toEqual(seen);
  expect(
    stateSentIn({ status: 200, body: { cascaded: [{ ...run, status: 'infrastructure_error' }] } }),
  ).toBeUndefined();
  expect(stateSentIn({ status: 200, body: { cascaded: [] } })).toBeUndefined();
  expect(stateSentIn({ status: 503, body: { cascaded: [run] } })).toBeUndefined();
  expect(stateSentIn(undefined)).toBeUndefined();
});

it('a read tells what is there, that nothing is there, or nothing', () => {
  expect(outcomeOfRead({ status: 200, body: { state } })).toEqual({ type: 'seen', seen, settled: false });
  expect(outcomeOfRead({ status: 404, body: { code: 'instance_not_found' } })).toEqual({
    ...{ type: 'seen', seen: { facts: {}, decided: null }, settled: false },
  });
  expect(outcomeOfRead({ status: 404, body: { code: 'not_found' } })).toEqual({ type: 'unknown' });
  expect(outcomeOfRead(undefined)).toEqual({ type: 'unknown' });
});

it('reads orders oldest first', () => {
  const body = { history: { a: [{ value: 2 }, { value: 1 }], b: [] } };
  expect(ordersIn({ status: 200, body })).toEqual({ a: [1, 2], b: [], c: [] });
  expect(ordersIn(undefined)).toBeUndefined();
});
