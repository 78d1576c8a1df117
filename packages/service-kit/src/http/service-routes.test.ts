import { createMetrics } from '../metrics/metrics';
import { serviceRoutes } from './service-routes';

it("does not wait for ever for the service's health", async () => {
  jest.useFakeTimers();
  try {
    const [health] = serviceRoutes({
      name: 'test',
      version: '1',
      metrics: createMetrics('test'),
      operations: [],
      health: () => new Promise(() => undefined),
      ready: () => ({ ready: true }),
    });
    const answered = expect(health?.answer()).rejects.toMatchObject({ code: 'deadline_exceeded' });
    // The deadline, and one further turn of the event loop, which would handle input that has already arrived.
    await jest.advanceTimersByTimeAsync(5_001);
    await answered;
  } finally {
    jest.useRealTimers();
  }
});
