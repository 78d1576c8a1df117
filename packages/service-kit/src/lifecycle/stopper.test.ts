import { createStopper, StopError } from './stopper';

const never = (): Promise<never> => new Promise(() => undefined);

it('stops the newest first, one after the other, and passes the drain time on', async () => {
  const seen: string[] = [];
  const stopper = createStopper(() => 0);
  for (const name of ['database', 'broker', 'http']) {
    stopper.add(name, async (drainMs) => {
      seen.push(`${name} begins ${drainMs}`);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(`${name} ends`);
    });
  }
  await stopper.stop(7);
  expect(seen).toEqual(['http', 'broker', 'database'].flatMap((name) => [`${name} begins 7`, `${name} ends`]));
});

it('gives each the remaining drain time, down to none', async () => {
  let now = 100;
  const given: number[] = [];
  const stopper = createStopper(() => now);
  for (const tookMs of [1, 9_000.5, 2_000, 1_000]) {
    stopper.add(`takes ${tookMs} ms`, (drainMs) => {
      given.push(drainMs);
      now += tookMs;
    });
  }
  await stopper.stop(8_000);
  expect(given).toEqual([8_000, 7_000, 5_000, 0]);
});

it('stops everything once, however often it is called', async () => {
  const stop = jest.fn();
  const stopper = createStopper();
  stopper.add('it', stop);
  await Promise.all([stopper.stop(), stopper.stop(5), stopper.stop()]);
  await stopper.stop();
  expect(stop).toHaveBeenCalledTimes(1);
  expect(stop).toHaveBeenCalledWith(0);
});

it('goes on after parts that fail or hang, and names both', async () => {
  const last = jest.fn();
  const stopper = createStopper();
  stopper.add('first', last);
  stopper.add('broken', () => Promise.reject(new TypeError('no way')));
  stopper.add('throwing', () => {
    throw new RangeError('nor this');
  });
  stopper.add('hanging', never, 20);
  const failed = stopper.stop();
  await expect(failed).rejects.toThrow(StopError);
  await expect(failed).rejects.toThrow(
    /hanging failed: It did not stop within 20 ms.*throwing failed: nor this.*broken failed: no way/,
  );
  expect(last).toHaveBeenCalledTimes(1);
});

it('stops parts that are added late, after the rest', async () => {
  const late = jest.fn();
  const stopper = createStopper();
  await stopper.stop();
  stopper.add('late', late);
  await stopper.stop();
  expect(late).toHaveBeenCalledTimes(1);
});

it('reports a late failure only to callers who wait', async () => {
  const stopper = createStopper();
  await stopper.stop();
  stopper.add('late', () => Promise.reject(new TypeError('no way')));
  await expect(stopper.stop()).rejects.toThrow('no way');
});
