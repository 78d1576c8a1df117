import { createEventCounter, createMetrics, type Metrics } from './metrics';

let metrics: Metrics;
beforeEach(() => {
  metrics = createMetrics('test');
});

const line = async (pattern: RegExp): Promise<string[]> =>
  (await metrics.render()).text.split('\n').filter((text) => pattern.test(text) && !text.startsWith('#'));

const end = (method: string | undefined, route: string | undefined, status: number | undefined): void => {
  metrics.requests.began();
  metrics.requests.ended({ method, route, status, seconds: 0.002 });
};

it.each([
  ['GET', '/rules/{id}', 204, 'method="GET",route="/rules/{id}",status="2xx"'],
  ['PROPFIND', undefined, 404, 'method="other",route="unmatched",status="4xx"'],
  [undefined, '/a', undefined, 'method="other",route="/a",status="client_gone"'],
  ['POST', '/a', 999, 'method="POST",route="/a",status="other"'],
])('counts %s %s %s in bounded labels', async (method, route, status, labels) => {
  end(method, route, status);
  const [count] = await line(/^http_request_duration_seconds_count/);
  expect(count).toContain(labels);
  expect(count).toMatch(/ 1$/);
});

it('counts what is in flight up and down', async () => {
  metrics.requests.began();
  expect(await line(/^http_requests_in_flight/)).toEqual([expect.stringMatching(/ 1$/)]);
  metrics.requests.ended({ method: 'GET', route: '/', status: 200, seconds: 1 });
  expect(await line(/^http_requests_in_flight/)).toEqual([expect.stringMatching(/ 0$/)]);
});

it('has a registry of its own, with the process and the service in it', async () => {
  const other = createMetrics('other');
  for (const each of [metrics, other]) each.counter({ name: 'same_name', help: 'h' }).inc();
  expect((await other.render()).text).toContain('same_name{service="other"} 1');
  expect(await line(/^process_cpu_seconds_total/)).toEqual([expect.stringContaining('service="test"')]);
});

it('counts events by their type', async () => {
  const count = createEventCounter(metrics, 'broker');
  count({ type: 'lost' });
  count({ type: 'lost' });
  expect(await line(/^decision_broker_events_total/)).toEqual([expect.stringMatching(/type="lost".* 2$/)]);
  count({ type: 'lost' });
  count({ type: 'found' });
  expect(await line(/^decision_broker_events_total/)).toEqual([
    expect.stringMatching(/type="lost".* 3$/),
    expect.stringMatching(/type="found".* 1$/),
  ]);
});
