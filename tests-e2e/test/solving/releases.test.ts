import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, call, type FleetUnderTest, SOLVING, startFleetUnderTest } from '../fleet/fleet-under-test';
import { clockAheadEnvironment, putClockAhead } from '../fleet/clock-ahead';
import { becomesReady, type FurtherGateway, startFurtherGateway } from '../fleet/further-gateway';

const SECONDS = 1_000;
const VERSIONS = 10;
const CUTOVERS = 100;
let service: FleetUnderTest;
/** Shares cache and channel with the gateway of the fleet. */
let announcedTo: FurtherGateway;
/** Has no cache and receives no announcements. */
let deaf: FurtherGateway;
/** Longer than the life of a cached live pointer. */
const STEP_MS = 16 * SECONDS;

beforeAll(async () => {
  service = await startFleetUnderTest({ services: SOLVING, examples: [] });
  announcedTo = await startFurtherGateway(service);
  deaf = await startFurtherGateway(service, { CACHE_URL: '', ...clockAheadEnvironment(STEP_MS) });
  await Promise.all([becomesReady(announcedTo), becomesReady(deaf)]);
}, 360 * SECONDS);

afterAll(async () => {
  await Promise.all([announcedTo?.kill(), deaf?.kill()]);
  await service?.stop();
}, 180 * SECONDS);

const admin = async (path: string, body: object): Promise<Record<string, unknown>> => {
  const answer = await service.call('POST', `/api/v1/admin/${path}`, body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as Record<string, unknown>; // every call here answers an object
};

/** A rule with ten versions; version n answers n from a row, from a default and from a formula. */
const publishVersions = async (): Promise<string> => {
  const id = randomUUID();
  const slug = `rule-${id.slice(0, 8)}`;
  for (let version = 1; version <= VERSIONS; version += 1) {
    const rule = {
      id,
      slug,
      name: slug,
      requestSchema: [{ key: 'a', type: 'number' }],
      responseSchema: [
        { key: 'row', type: 'number' },
        { key: 'default', type: 'number', defaultValue: version },
        { key: 'formula', type: 'function' },
      ],
      conditions: [{ response: { row: { value: version }, formula: { value: `a * 0 + ${version}` } } }],
      _publish: true,
    };
    expect(await admin('rules/import', { rule })).toMatchObject({ version });
  }
  return slug;
};

const openEnvironment = async (): Promise<string> => {
  const slug = `stage-e${randomUUID().slice(0, 8)}`;
  await admin('environments', { slug });
  return slug;
};

const post = (url: string, path: string, body: unknown): Promise<Answer> =>
  call(`${url}/api/v1/${path}`, 'POST', body, { 'x-api-key': service.apiKey });

/** The version of an answer; an answer that mixes versions fails the test. */
const versionOf = (body: unknown): number => {
  const { row } = body as { row: number }; // checked by the next line
  expect(body).toEqual({ row, default: row, formula: row });
  return row;
};

/** Less than the 15 seconds after which a process checks by itself. */
const ANNOUNCED_MS = 12 * SECONDS;

/** The first answer that is as expected, or the last one: an announcement arrives shortly after the answer to its change. */
const onceAnnounced = async (path: string, isExpected: (answer: Answer) => boolean): Promise<Answer> => {
  for (const end = Date.now() + ANNOUNCED_MS; ; await sleep(20)) {
    const answer = await post(service.baseUrl, path, { a: 1 });
    if (isExpected(answer) || Date.now() > end) return answer;
  }
};

const expectVersion = async (path: string, version: number): Promise<void> => {
  const { body } = await onceAnnounced(path, (answer) => (answer.body as { row?: number }).row === version);
  expect(versionOf(body)).toBe(version);
};

/** Consecutive answers of an environment until `done`; each with the number of cutovers before and after it. */
const load = async (
  url: string,
  path: string,
  cutovers: { readonly started: number; readonly finished: number; readonly done: boolean },
): Promise<{ readonly body: unknown; readonly before: number; readonly after: number }[]> => {
  const answers = [];
  while (!cutovers.done) {
    const before = cutovers.finished;
    const bulk = path.startsWith('bulk');
    const { status, body } = await post(url, path, bulk ? Array.from({ length: 50 }, (_, a) => ({ a })) : { a: 1 });
    expect(status).toBe(200);
    answers.push({ body, before, after: cutovers.started });
  }
  return answers;
};

it(
  'under load each answer is wholly of the old or wholly of the new version, in a hundred cutovers',
  async () => {
    const slug = await publishVersions();
    const environment = await openEnvironment();
    /** The version that was live after the given number of cutovers. */
    const live = [1];
    await admin('releases', { rule: slug, version: 1, environment });
    const cutovers = { started: 0, finished: 0, done: false };
    const paths = [`solve/${slug}/${environment}`, `bulk-solve/${slug}/${environment}`];
    const loads = Promise.all(
      [service.baseUrl, announcedTo.url].flatMap((url) => paths.map((path) => load(url, path, cutovers))),
    );
    const cutOver = async (): Promise<void> => {
      for (let cutover = 1; cutover <= CUTOVERS; cutover += 1) {
        const version = (cutover % VERSIONS) + 1;
        live.push(version);
        cutovers.started = cutover;
        expect(await admin('releases', { rule: slug, version, environment })).toMatchObject({ state: 'live', version });
        cutovers.finished = cutover;
      }
    };
    await cutOver().finally(() => {
      cutovers.done = true;
    });
    const answers = (await loads).flat();
    expect(answers.length).toBeGreaterThan(CUTOVERS);
    const seen = new Set<number>();
    for (const { body, before, after } of answers) {
      const versions = new Set((Array.isArray(body) ? body : [body]).map(versionOf));
      expect(versions.size).toBe(1);
      const [version = 0] = versions;
      seen.add(version);
      // An announcement may still be in flight: the version before the last finished cutover is correct too.
      expect(live.slice(Math.max(0, before - 1), after + 1)).toContain(version);
    }
    expect(seen.size).toBe(VERSIONS);
  },
  360 * SECONDS,
);

it(
  'a cutover is followed before copies are too old if it is announced, and then if it is not',
  async () => {
    const slug = await publishVersions();
    const environment = await openEnvironment();
    const path = `solve/${slug}/${environment}`;
    const urls = [service.baseUrl, announcedTo.url, deaf.url];
    const all = (version: number) =>
      Promise.all(urls.map(async (url) => versionOf((await post(url, path, { a: 1 })).body) === version));
    await admin('releases', { rule: slug, version: 1, environment });
    expect(await all(1)).toEqual([true, true, true]);

    const startedAt = Date.now();
    await admin('releases', { rule: slug, version: 2, environment });
    while (!(await all(2)).slice(0, 2).every(Boolean)) expect(Date.now() - startedAt).toBeLessThan(ANNOUNCED_MS);
    putClockAhead(deaf);
    while (!(await all(2)).every(Boolean)) {
      expect(Date.now() - startedAt).toBeLessThan(60 * SECONDS);
      await sleep(200);
    }
  },
  180 * SECONDS,
);

it('an environment in which nothing of the rule is live answers 404: before, after, and if there is none', async () => {
  const slug = await publishVersions();
  const environment = await openEnvironment();
  const nothing = { status: 404, body: { code: 'environment_not_found' } };
  const path = `solve/${slug}/${environment}`;
  expect(await post(service.baseUrl, path, {})).toMatchObject(nothing);
  expect(await post(service.baseUrl, `solve/${slug}/nowhere`, {})).toMatchObject(nothing);
  const { id } = await admin('releases', { rule: slug, version: 3, environment });
  await expectVersion(path, 3);
  const bulk = await post(service.baseUrl, `bulk-${path}`, [{ a: 1 }, { a: 2 }]);
  expect((bulk.body as unknown[]).map(versionOf)).toEqual([3, 3]); // a bulk answers a list
  await service.call('POST', `/api/v1/admin/releases/${String(id)}/cancel?withdraw=true`);
  expect(await onceAnnounced(path, ({ status }) => status === 404)).toMatchObject(nothing);
  expect(await post(service.baseUrl, `bulk-${path}`, [{}])).toMatchObject(nothing);
});

it('approval, promotion, rollback and reconciliation move what an environment answers', async () => {
  const slug = await publishVersions();
  const [low, high] = [await openEnvironment(), await openEnvironment()];
  await admin('environments', { slug: low, level: 901, approvers: ['role:admin'] });
  await admin('environments', { slug: high, level: 902, direct_releases: false });
  const pathOf = (environment: string): string => `solve/${slug}/${environment}`;
  const pending = await admin('releases', { rule: slug, version: 1, environment: low });
  expect(pending).toMatchObject({ state: 'pending' });
  expect(await post(service.baseUrl, pathOf(low), { a: 1 })).toMatchObject({ status: 404 });
  await admin(`releases/${String(pending['id'])}/approve`, {});
  await expectVersion(pathOf(low), 1);
  const promoted = await admin(`releases/${String(pending['id'])}/promote`, {});
  expect(promoted).toMatchObject({ state: 'live', environment: high });
  await expectVersion(pathOf(high), 1);
  const next = await admin('releases', { rule: slug, version: 2, environment: low });
  await admin(`releases/${String(next['id'])}/approve`, {});
  const again = await admin(`releases/${String(next['id'])}/promote`, {});
  await expectVersion(pathOf(high), 2);
  await admin(`releases/${String(again['id'])}/rollback`, {});
  await expectVersion(pathOf(high), 1);
  const { reconciled } = await admin('releases/reconcile', {});
  expect(reconciled).toBeGreaterThanOrEqual(2);
  await expectVersion(pathOf(low), 2);
});
