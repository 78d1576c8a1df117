import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { waitUntil } from '@decision/local-stack';
import { type FleetUnderTest, SOLVING, startFleetUnderTest } from '../fleet/fleet-under-test';
import { becomesReady, type FurtherGateway, get, startFurtherGateway } from '../fleet/further-gateway';

const SECONDS = 1_000;
const STOP_MS = 10 * SECONDS;
const PARTITIONS = 16;
/** Pause between two requests of a lane: some are always in flight, and starting processes get processor time. */
const PAUSE_MS = 10;

let service: FleetUnderTest;
const further: FurtherGateway[] = [];

beforeAll(async () => {
  service = await startFleetUnderTest({ services: SOLVING, examples: ['shipping-price'] });
}, 360 * SECONDS);

afterAll(async () => {
  await Promise.all(further.map((gateway) => gateway.kill()));
  await service?.stop();
}, 180 * SECONDS);

const start = async (environment: Readonly<Record<string, string>> = {}): Promise<FurtherGateway> => {
  const gateway = await startFurtherGateway(service, environment);
  further.push(gateway);
  return gateway;
};

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

interface SentRequest {
  /** Resolves when the operating system has the whole request, or when the request failed before that. */
  readonly sent: Promise<unknown>;
  readonly answer: Promise<Answer>;
}

const sendSolve = (url: string, weight: number): SentRequest => {
  const call = request(`${url}/api/v1/solve/shipping-price/latest`, {
    method: 'POST',
    headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(60 * SECONDS),
  });
  const answer = new Promise<Answer>((resolve, reject) => {
    call.once('error', reject);
    call.once('response', (response) => {
      text(response).then((body) => resolve({ status: response.statusCode, text: body }), reject);
    });
  });
  const sent = Promise.race([once(call, 'finish'), answer]).catch(() => undefined);
  call.end(JSON.stringify({ destination: { country: 'DE' }, express: false, weight }));
  return { sent, answer };
};

const solve = (url: string, weight: number): Promise<Answer> => sendSolve(url, weight).answer;

/** Weights and their prices: an answer that belongs to another request is wrong two times out of three. */
const PRICES: readonly (readonly [number, number])[] = [
  [1, 4.9],
  [5, 7.9],
  [20, 16.9],
];

interface Load {
  readonly faults: readonly string[];
  readonly answered: () => number;
  /** Stops sending requests, and resolves when all started ones have left this process. */
  pause(): Promise<unknown>;
  /** Stops sending requests, and resolves when all sent ones have been answered. */
  stop(): Promise<void>;
}

/** Keeps a gateway busy. Every wrong answer is a fault, and so is a broken connection. */
const putLoadOn = (url: string): Load => {
  const faults: string[] = [];
  let going = true;
  let answered = 0;
  const lastSent = new Map<number, Promise<unknown>>();
  const lane = async (_: unknown, index: number): Promise<void> => {
    for (let turn = 0; going; turn += 1) {
      const [weight, price] = PRICES[turn % PRICES.length] ?? [0, 0];
      try {
        const { sent, answer } = sendSolve(url, weight);
        lastSent.set(index, sent);
        const { status, text: body } = await answer;
        if (status !== 200 || !body.includes(`"price":${price},`)) faults.push(`${weight} kg: ${status} ${body}`);
      } catch (error) {
        faults.push(String(error));
      }
      answered += 1;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const lanes = Promise.all(Array.from({ length: 6 }, lane));
  const pause = (): Promise<unknown> => {
    going = false;
    return Promise.all(lastSent.values());
  };
  return {
    faults,
    answered: () => answered,
    pause,
    stop: async () => {
      await pause();
      await lanes;
    },
  };
};

const partitionsOf = async (url: string): Promise<number> =>
  ((await get(`${url}/health`))?.body['broker'] as { partitions?: number } | undefined)?.partitions ?? 0;

const share = (urls: readonly string[]): Promise<void> =>
  waitUntil(async () => {
    const shares = await Promise.all(urls.map(partitionsOf));
    return Math.min(...shares) > 0 && shares.reduce((sum, count) => sum + count, 0) === PARTITIONS;
  }, 'the gateways share all partitions');

/** Takes a gateway out as a load balancer does: it gets no new requests, and answers the sent ones while it stops. */
const takeOut = async (gateway: FurtherGateway, load: Load): Promise<void> => {
  const pid = gateway.pid();
  await load.pause();
  await Promise.all([load.stop(), gateway.stop(STOP_MS)]);
  expect({ pid: typeof pid, faults: load.faults }).toEqual({ pid: 'number', faults: [] });
  expect(load.answered()).toBeGreaterThan(0);
};

const ownGateway = () => {
  const gateway = service.fleet.services.get('hps-gateway');
  if (gateway === undefined) throw new Error('The fleet has no gateway.');
  return gateway;
};

it(
  'grow from one to three and shrink to one under load, and no request is lost, nor on SIGTERM',
  async () => {
    const first = ownGateway();
    const firstLoad = putLoadOn(first.url);
    const newcomers = await Promise.all([start(), start()]);
    const loads: Load[] = [];
    for (const gateway of newcomers) {
      await becomesReady(gateway);
      loads.push(putLoadOn(gateway.url));
    }
    await share([first.url, ...newcomers.map(({ url }) => url)]);
    for (const [index, gateway] of newcomers.entries()) await takeOut(gateway, loads[index] ?? firstLoad);
    await share([first.url]);
    const before = firstLoad.answered();
    await waitUntil(() => firstLoad.answered() > before + 50, 'the first goes on');
    await firstLoad.stop();
    expect(firstLoad.faults).toEqual([]);
  },
  360 * SECONDS,
);

it(
  'are restarted one after the other under load, and those that stay lose no request',
  async () => {
    let stayer = await start();
    await becomesReady(stayer);
    let load = putLoadOn(stayer.url);
    let next = start();
    for (let round = 0; round < 3; round += 1) {
      const successor = await next;
      await becomesReady(successor);
      if (round < 2) next = start();
      const successorLoad = putLoadOn(successor.url);
      await waitUntil(() => load.answered() > 20 && successorLoad.answered() > 20, 'both are at work');
      await takeOut(stayer, load);
      [stayer, load] = [successor, successorLoad];
    }
    await takeOut(stayer, load);
  },
  360 * SECONDS,
);

it(
  'of which one is killed and comes back: those that stay lose no request',
  async () => {
    const stayer = ownGateway();
    const load = putLoadOn(stayer.url);
    const mortal = await start();
    await becomesReady(mortal);
    await share([stayer.url, mortal.url]);
    const before = mortal.pid();
    process.kill(before ?? 0, 'SIGKILL');
    await waitUntil(() => mortal.pid() !== undefined && mortal.pid() !== before, 'it has been started again');
    await becomesReady(mortal);
    await share([stayer.url, mortal.url]);
    const answered = load.answered();
    await waitUntil(() => load.answered() > answered + 50, 'the other goes on');
    await load.stop();
    expect(load.faults).toEqual([]);
    await mortal.stop(STOP_MS);
  },
  270 * SECONDS,
);

it(
  'that expect more partitions than there are do not become ready, and say both numbers to whoever asks and in the log',
  async () => {
    const gateway = await start({ MAX_WORKERS: '64' });
    const sentence = /solution-response" has 16 partitions, 64 are expected/;
    await waitUntil(
      async () => sentence.test(String((await get(`${gateway.url}/ready`))?.body['reason'])),
      'it says why',
    );
    expect(await get(`${gateway.url}/ready`)).toMatchObject({ status: 503, body: { ready: false } });
    const answer = await solve(gateway.url, 1);
    expect(answer.status).toBe(504);
    expect(answer.text).toMatch(/too_few_reply_partitions/);
    expect(answer.text).toMatch(/has 16 partitions, 64 are expected/);
    expect(await get(`${gateway.url}/health`)).toMatchObject({ status: 200, body: { broker: { ready: false } } });
    await waitUntil(
      () => gateway.lines.some((line) => line.includes('has 16 partitions, 64 are expected')),
      'it is in the log',
    );
    await gateway.stop(STOP_MS);
  },
  180 * SECONDS,
);

it(
  'without a broker answer every solve with 503, and their health with exactly its body',
  async () => {
    const gateway = await start({ MQ_BROKERS: '' });
    await waitUntil(async () => (await get(`${gateway.url}/health`)) !== undefined, 'it answers');
    await waitUntil(async () => (await get(`${gateway.url}/health`))?.body['redis'] === true, 'it has its cache');
    expect(await get(`${gateway.url}/health`)).toEqual({
      status: 200,
      body: {
        status: 'ok',
        redis: true,
        cacheInvalidation: {
          enabled: true,
          ready: true,
          channel: 'service:cache:invalidate',
        },
        broker: { enabled: false, ready: false, partitions: 0 },
      },
    });
    expect((await get(`${gateway.url}/ready`))?.status).toBe(503);
    const paths = [
      'solve/shipping-price',
      'solve/shipping-price/latest',
      'solve/shipping-price/1',
      'bulk-solve/shipping-price',
      'parallel-solve',
    ];
    for (const path of paths) {
      const response = await fetch(`${gateway.url}/api/v1/${path}`, {
        method: 'POST',
        headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
        body: '{}',
      });
      expect({ path, status: response.status, body: await response.json() }).toMatchObject({
        path,
        status: 503,
        body: { code: 'broker_unavailable' },
      });
    }
    await gateway.stop(STOP_MS);
  },
  180 * SECONDS,
);

it('slows whoever tries keys at the gateway, and not whoever has one', async () => {
  const guess = () => service.call('POST', '/api/v1/solve/shipping-price', { weight: 1 }, { 'x-api-key': 'nonsense' });
  const [valid, ...answers] = await Promise.all([
    service.call('POST', '/api/v1/solve/shipping-price', { weight: 1 }),
    ...Array.from({ length: 200 }, guess),
  ]);
  expect(valid?.status).toBe(200);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
}, 360_000);
