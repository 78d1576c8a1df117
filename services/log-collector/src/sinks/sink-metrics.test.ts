import { createLogger, createMetrics } from '@decision/service-kit';
import { createSinkMetrics } from './sink-metrics';

it('logs the decisions sent to a sink once per hour, and failures once per minute', () => {
  const lines: [string, object][] = [];
  const logger = createLogger({ service: 'test', level: 'silent' });
  const noting = (fields: object, message: string) => void lines.push([message, fields]);
  let now = 0;
  const observer = createSinkMetrics(
    createMetrics('test'),
    Object.assign(logger, { info: noting, warn: noting }),
    () => now,
  )('audit');
  observer.sent(5, 10);
  observer.passedOver({ filtered: 2, unreadable: 1 });
  for (; now <= 60_000; now += 1_000) observer.failed('unavailable', 'It is away');
  expect(lines.map(([message]) => message)).toEqual(
    Array.from({ length: 2 }, () => expect.stringMatching(/tried again/)),
  );
  lines.length = 0;
  now = 3_600_000;
  observer.sent(1, 10);
  now += 3_599_999;
  observer.sent(1, 10);
  now += 1;
  observer.sent(1, 10);
  expect(lines.map(([, fields]) => fields)).toEqual([
    { sink: 'audit', sent: 6, dead_lettered: 0, filtered: 2, unreadable: 1, lost: 0 },
    { sink: 'audit', sent: 2, dead_lettered: 0, filtered: 0, unreadable: 0, lost: 0 },
  ]);
});
