import { type ErrorCode, ServiceError } from '@decision/contracts';
import { createLogger } from '../../logging/logger';
import { FailureLog } from './failure-log';

let now: number;
let lines: Record<string, unknown>[];
let log: FailureLog;

beforeEach(() => {
  now = 0;
  lines = [];
  log = new FailureLog(() => now);
});

const logger = createLogger({
  service: 's',
  level: 'info',
  destination: { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
});
const fail = (error: unknown, times = 1): void => {
  for (let time = 0; time < times; time += 1) log.report(() => logger, error);
};
const coded = (code: ErrorCode): ServiceError => new ServiceError(code, 'A sentence.');

it.each<[ErrorCode, string]>([
  ['invalid_json', 'info'],
  ['overloaded', 'info'],
  ['not_ready', 'info'],
  ['shutting_down', 'info'],
  ['database_unavailable', 'error'],
  ['deadline_exceeded', 'error'],
])('logs %s at %s', (code, level) => {
  fail(coded(code));
  expect(lines).toEqual([expect.objectContaining({ level, code })]);
});

it('logs what nobody foresaw with its stack', () => {
  fail(new TypeError('odd'));
  expect(lines).toEqual([
    expect.objectContaining({
      level: 'error',
      code: 'internal_error',
      err: expect.objectContaining({
        type: 'TypeError',
        message: 'odd',
        stack: expect.stringContaining('failure-log.test'),
      }),
    }),
  ]);
});

it('keeps at most one line of a client’s mistake a second, and ten of ours, and counts the rest', () => {
  fail(coded('invalid_json'), 5);
  fail(new TypeError('odd'), 13);
  expect(lines.map(({ code }) => code)).toEqual(['invalid_json', ...Array<string>(10).fill('internal_error')]);
  now = 1_000;
  fail(coded('invalid_json'), 2);
  fail(new TypeError('odd'));
  expect(lines.slice(11)).toEqual([
    expect.objectContaining({ code: 'invalid_json', suppressed: 4 }),
    expect.objectContaining({ code: 'internal_error', suppressed: 3 }),
  ]);
});

it('says nothing of suppressed lines where there are none', () => {
  fail(coded('invalid_json'));
  now = 1_000;
  fail(coded('invalid_json'));
  expect(lines.every((line) => !('suppressed' in line))).toBe(true);
});
