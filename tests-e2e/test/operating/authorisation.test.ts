import { randomBytes } from 'node:crypto';
import { createApiKey, ensureWorkspace, openDatabase } from '@decision/persistence';
import { generateApiKey } from '@decision/service-kit';
import { type Answer, call } from '../fleet/fleet-under-test';
import { enterExampleWorkspace, type SharedFleet } from '../fleet/shared-fleet';

const SECONDS = 1_000;
/** Number of concurrent requests. */
const LANES = 6;
const WORKSPACES = ['alpha', 'beta'] as const;
type Workspace = (typeof WORKSPACES)[number];
const KEYS = {
  whole: { role: 'editor', userGroups: [] },
  north: { role: 'editor', userGroups: ['north'] },
  viewer: { role: 'viewer', userGroups: [] },
} as const;
type KeyName = keyof typeof KEYS;

/** Rules of each workspace; both workspaces have the slug `both`, with different answers. */
const RULES: Readonly<Record<Workspace, Readonly<Record<string, readonly string[]>>>> = {
  alpha: { both: [], 'alpha-open': [], 'alpha-north': ['north'], 'alpha-south': ['south'] },
  beta: { both: [], 'beta-open': [], 'beta-north': ['north'], 'beta-south': ['south'] },
};
const SLUGS = [...new Set(Object.values(RULES).flatMap((rules) => Object.keys(rules))), 'no-such-rule'];
const SELECTORS = ['', '/latest', '/1', '/2', '/staging'];

let service: SharedFleet;
const keys = new Map<string, string>();
const keyOf = (workspace: Workspace, name: string): string => keys.get(`${workspace} ${name}`) ?? '';

beforeAll(async () => {
  service = await enterExampleWorkspace();
  for (const workspace of WORKSPACES) await fill(workspace);
}, 360 * SECONDS);

/** Creates a workspace with its keys and rules. */
const fill = async (workspace: Workspace): Promise<void> => {
  const { id } = await ensureWorkspace(service.databaseUrl, { slug: workspace, name: workspace });
  const database = openDatabase({ url: service.databaseUrl, applicationName: 'matrix' });
  const makers = { 'maker ': [], 'maker north': ['north'], 'maker south': ['south'] };
  const wanted = Object.entries(makers).map(([name, userGroups]) => [name, { role: 'developer', userGroups }] as const);
  for (const [name, { role, userGroups }] of [...Object.entries(KEYS), ...wanted]) {
    const { apiKey, selector, secretHash } = generateApiKey(randomBytes);
    await database.inWorkspace({ workspaceId: id, userGroups: undefined }, (transaction) =>
      createApiKey(transaction, { selector, secretHash, name, role, userGroups: [...userGroups], expiresAt: null }),
    );
    keys.set(`${workspace} ${name}`, apiKey);
  }
  await database.close();
  for (const [slug, groups] of Object.entries(RULES[workspace])) {
    const rule = {
      slug,
      name: slug,
      requestSchema: [],
      responseSchema: [{ key: 'secret', name: 'Secret', type: 'string' }],
      conditions: [{ request: {}, response: { secret: { value: `secret of ${workspace}` } }, settings: {} }],
      _publish: true,
    };
    const answer = await ask('/api/v1/admin/rules/import', { rule }, keyOf(workspace, `maker ${groups[0] ?? ''}`));
    expect(answer).toMatchObject({ status: 200 });
  }
};

const ask = (
  path: string,
  body: unknown,
  key: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => call(`${service.baseUrl}${path}`, 'POST', body, { 'x-api-key': key, ...headers });

const isVisible = (workspace: Workspace, key: KeyName, slug: string): boolean => {
  const groups = RULES[workspace][slug];
  return groups !== undefined && (key !== 'north' || groups.includes('north'));
};

/** Expected answer to a request about a rule: a status, and the code of a refusal. */
const expected = (workspace: Workspace, key: KeyName, slug: string, selector: string): [number, string | undefined] => {
  if (key === 'viewer') return [403, 'forbidden'];
  if (!isVisible(workspace, key, slug)) return [404, 'rule_not_found'];
  if (selector === '/2') return [404, 'version_not_found'];
  return selector === '/staging' ? [404, 'environment_not_found'] : [200, undefined];
};

const ENDPOINTS: Readonly<Record<string, (slug: string, key: string) => Promise<Answer>>> = {
  solve: (rule, key) => ask(`/api/v1/solve/${rule}`, {}, key),
  'solve, explained': (rule, key) => ask(`/api/v1/solve/${rule}?explain=all`, {}, key),
  'solve a list': (rule, key) => ask(`/api/v1/solve/${rule}`, [{}, {}], key),
  'bulk-solve': (rule, key) => ask(`/api/v1/bulk-solve/${rule}`, [{}, {}], key),
  'bulk-solve lines': (rule, key) =>
    ask(`/api/v1/bulk-solve/${rule}`, '{}\n{}', key, {
      'content-type': 'application/x-ndjson',
      accept: 'application/json',
    }),
};

const cases = WORKSPACES.flatMap((workspace) =>
  (Object.keys(KEYS) as KeyName[]).flatMap((key) =>
    SLUGS.flatMap((slug) => SELECTORS.map((selector) => [workspace, key, slug, selector] as const)),
  ),
); // the keys of the table above

it.each(Object.keys(ENDPOINTS))('%s shows each key what is its own, and nothing else exists', async (name) => {
  const endpoint = ENDPOINTS[name];
  const wrong: unknown[] = [];
  const check = async ([workspace, key, slug, selector]: (typeof cases)[number]): Promise<void> => {
    const answer = await endpoint?.(`${slug}${selector}`, keyOf(workspace, key));
    const [status, code] = expected(workspace, key, slug, selector);
    const text = JSON.stringify(answer?.body);
    const other = workspace === 'alpha' ? 'beta' : 'alpha';
    const leaks = text.includes(`secret of ${other}`) || (status !== 200 && text.includes('secret of'));
    const isRight =
      answer?.status === status &&
      (code === undefined ? text.includes(`secret of ${workspace}`) : text.includes(`"code":"${code}"`));
    if (leaks || !isRight) wrong.push([workspace, key, slug, selector, answer?.status, text]);
  };
  // Twice: cache entries of the first round must not answer the second.
  for (const round of [cases, cases.toReversed()]) {
    const left = round.values();
    const lane = async (): Promise<void> => {
      for (const item of left) await check(item);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }
  expect(wrong).toEqual([]);
});

it('parallel-solve shows each key what is its own, entry by entry', async () => {
  for (const workspace of WORKSPACES) {
    for (const key of Object.keys(KEYS) as KeyName[]) {
      const asked = SLUGS.flatMap((slug) => SELECTORS.map((selector) => [slug, selector] as const));
      const entries = Object.fromEntries(
        asked.map(([slug, selector]) => [`${slug}${selector}`, { $rule: `${slug}${selector}` }]),
      );
      const answer = await ask('/api/v1/parallel-solve', entries, keyOf(workspace, key));
      if (key === 'viewer') {
        expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
        continue;
      }
      const results = answer.body as Record<string, { secret?: string; $error?: { code: string; status: number } }>;
      for (const [slug, selector] of asked) {
        const [status, code] = expected(workspace, key, slug, selector);
        const result = results[`${slug}${selector}`];
        if (code === undefined) expect(result).toEqual({ secret: `secret of ${workspace}` });
        else expect(result).toMatchObject({ $error: { status, code } });
      }
    }
  }
});

it('answers to what is hidden exactly what it answers to what does not exist', async () => {
  const bodyOf = async (slug: string) => {
    const { body, status } = await ask(`/api/v1/solve/${slug}`, {}, keyOf('alpha', 'north'));
    return [
      status,
      JSON.stringify(body)
        .replaceAll(slug, 'S')
        .replace(/"request_id":"[^"]*"/, ''),
    ];
  };
  const unknown = await bodyOf('no-such-rule');
  for (const hidden of ['alpha-open', 'alpha-south', 'beta-north', 'both'])
    expect(await bodyOf(hidden)).toEqual(unknown);
});

it('takes no identity from any other header', async () => {
  const headers = {
    'x-workspace-id': 'beta',
    authorization: `Bearer ${keyOf('beta', 'whole')}`,
    'x-user-groups': 'south',
    cookie: 'session=1',
  };
  expect((await ask('/api/v1/solve/both', {}, keyOf('alpha', 'whole'), headers)).body).toEqual({
    secret: 'secret of alpha',
  });
  expect((await ask('/api/v1/solve/beta-open', {}, keyOf('alpha', 'whole'), headers)).status).toBe(404);
});
