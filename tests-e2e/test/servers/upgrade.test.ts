import { type Fleet, type FleetOptions, prepareServers, seedExamples, startFleet } from '@decision/launcher';
import { testStack, waitUntil } from '@decision/local-stack';
import { createDatabase, dropDatabase } from '@decision/persistence';
import { type Call, callWith, repositoryRoot } from '../fleet/fleet-under-test';
import { buildRelease, findPreviousRelease } from './previous-release';

/*
 * An upgrade in the order of a cluster: first the new schema, while the services of the previous release continue; then services of both releases
 * side by side, on the same topics, cache and database; then only the new ones.
 */

const SECONDS = 1_000;
const previous = findPreviousRelease();

/** One of each kind of request that services answer together; `run` makes its names unique. */
const askEverything = async (call: Call, run: string): Promise<void> => {
  const parcel = { destination: { country: 'DE' }, weight: 2.4, express: false };
  expect(await call('POST', '/api/v1/solve/shipping-price', parcel)).toMatchObject({ status: 200 });
  expect(await call('POST', '/api/v1/bulk-solve/shipping-price', [parcel, parcel])).toMatchObject({ status: 200 });
  const order = { total: 120, country: 'DE', customer_id: `c-${run}` };
  const submitted = await call('POST', `/api/v1/contexts/orders/o-${run}`, order);
  expect(submitted).toMatchObject({
    status: 200,
    body: { cascaded: [{ rule: 'order-shipping', status: 'solved', execution_id: expect.any(String) as string }] },
  });
  expect(await call('GET', `/api/v1/contexts/orders/o-${run}`)).toMatchObject({ status: 200 });
  const basket = { items: [{ sku: 'a', quantity: 2, unit_price: 10 }], country: 'DE' };
  expect(await call('POST', `/api/v1/contexts/baskets/b-${run}`, basket)).toMatchObject({ status: 200 });
  expect(await call('GET', '/api/v1/admin/rules/list')).toMatchObject({ status: 200 });
  expect(await call('GET', '/api/v1/admin/audit?limit=1')).toMatchObject({ status: 200 });
  const user = { email: `${run}@example.com`, password: 'correct horse battery staple', role: 'developer' };
  expect(await call('POST', '/api/v1/admin/users/create', user)).toMatchObject({ status: 201 });
  const { cascaded } = submitted.body as { readonly cascaded: readonly { readonly execution_id: string }[] }; // checked above
  await waitUntil(async () => {
    const found = await call('GET', `/api/v1/decisions/query?search=${cascaded[0]?.execution_id}`);
    return found.status === 200 && (found.body as { readonly data: readonly unknown[] }).data.length === 1; // our own answer
  }, 'the decision about the order is on record');
};

const title =
  previous === undefined
    ? 'an upgrade (skipped: the history ends before the commit that did not know the newest migration; fetch more of it)'
    : 'an upgrade';
if (previous === undefined) process.stderr.write(`${title}\n`);

(previous === undefined ? describe.skip : describe)(title, () => {
  const { databaseUrl: serverUrl, cacheUrl, mqBrokers, uniqueName } = testStack();
  const name = uniqueName('upgrade');
  const fleets: Fleet[] = [];
  const lines: string[] = [];
  let shared: Pick<FleetOptions, 'addresses' | 'names'>;
  let oldRoot: string;
  let apiKey: string;
  let [before, after]: [Call, Call] = [unstarted, unstarted];

  const start = async (release: string, root: string): Promise<Call> => {
    const fleet = await startFleet({
      ...{ ...shared, root, ingressPort: 0 },
      onLine: (service, line) => lines.push(`[${release} ${service}] ${line}`),
      onNotice: (sentence) => lines.push(sentence),
    });
    fleets.push(fleet);
    await fleet.ready(120 * SECONDS).catch((error: unknown) => {
      throw new Error(`The ${release} release did not start:\n${lines.slice(-40).join('\n')}`, { cause: error });
    });
    return callWith({ baseUrl: fleet.baseUrl, apiKey });
  };

  beforeAll(async () => {
    oldRoot = buildRelease(previous ?? '');
    const addresses = { cacheUrl, mqBrokers, databaseUrl: await createDatabase(serverUrl, name) };
    const names = { topicPrefix: `${name}.`, cachePrefix: `${name}:` };
    const prepared = await prepareServers({
      ...{ addresses, names, knownApiKey: undefined, serviceLogin: `${name}_services` },
      onProgress: (line) => lines.push(line),
    });
    apiKey = prepared.apiKey;
    shared = { addresses: { ...addresses, databaseUrl: prepared.databaseUrl }, names };
  }, 420 * SECONDS);
  afterAll(async () => {
    for (const fleet of fleets) await fleet.stop();
    await dropDatabase(serverUrl, name);
  }, 60 * SECONDS);

  it(
    'leaves the services of the previous release working on the new schema',
    async () => {
      before = await start('previous', oldRoot);
      await seedExamples(oldRoot, fleets[0]?.baseUrl ?? '', apiKey);
      await askEverything(before, 'before');
    },
    240 * SECONDS,
  );

  it(
    'has services of both releases beside each other, and no request fails while the old ones stop',
    async () => {
      after = await start('new', repositoryRoot);
      for (let turn = 0; turn < 3; turn += 1) {
        await askEverything(before, `old-${turn}`);
        await askEverything(after, `new-${turn}`);
      }
      let going = true;
      const faults: unknown[] = [];
      const lanes = Promise.all(
        Array.from({ length: 4 }, async (_, lane) => {
          for (let turn = 0; going; turn += 1) {
            const answer = await after('POST', `/api/v1/contexts/orders/o-${lane}-${turn}`, {
              ...{ total: turn, country: 'DE', customer_id: `c-${lane}` },
            }).catch((error: unknown) => ({ status: 0, body: error }));
            if (answer.status !== 200) faults.push(answer);
          }
        }),
      );
      await fleets[0]?.stop();
      going = false;
      await lanes;
      expect(faults).toEqual([]);
    },
    240 * SECONDS,
  );

  it(
    'is over once the new services answer alone, with everything that was made before',
    async () => {
      await askEverything(after, 'after');
      for (const run of ['before', 'old-0', 'new-0']) {
        expect(await after('GET', `/api/v1/contexts/orders/o-${run}`)).toMatchObject({ status: 200 });
      }
    },
    120 * SECONDS,
  );
});

function unstarted(): never {
  throw new Error('No release has been started.');
}
