import { describeReport, isSerial } from './describe-report';
import { type Operation } from './history';

const operation: Operation = {
  ...{ name: 'submit 1.1', begunAt: 1, endedAt: 2, writes: { a: 1 } },
  outcome: { type: 'seen', seen: { facts: { a: 2 }, decided: null }, settled: true },
};
const history = { operations: [operation], orders: {} };

it('says what was done and found', () => {
  const good = { instanceId: 'i-0', history, verdict: { type: 'serial', order: [operation] } } as const;
  const report = { histories: [good], faults: { 'kill worker': 2 } };
  expect(isSerial(report)).toBe(true);
  expect(describeReport(report)).toBe(
    [
      '1 histories of 1 operations: submit 1',
      'outcomes: answered with the state 1',
      'faults: kill worker 2',
      'Every history is explained by a serial order.',
    ].join('\n'),
  );
});

it('shows where an order ended, and what gave up', () => {
  const bad = {
    instanceId: 'i-0',
    history,
    verdict: { type: 'not_serial', longest: [], next: [operation] },
  } as const;
  const open = { instanceId: 'i-1', history, verdict: { type: 'undecided', steps: 9 } } as const;
  const report = { histories: [bad, open], faults: {} };
  expect(isSerial(report)).toBe(false);
  const text = describeReport(report);
  expect(text).toContain('i-0: no order of its 1 operations explains all answers; 0 were placed');
  expect(text).toContain('submit 1.1 [1.0, 2.0] writes {"a":1} saw {"facts":{"a":2},"decided":null}, settled');
  expect(text).toContain('i-1: given up after 9 steps');
  expect(text).toContain('2 of 2 histories are not explained.');
});
