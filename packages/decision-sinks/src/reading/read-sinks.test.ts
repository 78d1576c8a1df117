import { readSinks } from './read-sinks';

const secrets: Readonly<Record<string, string>> = {
  '/run/key': 'k'.repeat(32),
  '/run/empty': '',
  '/run/broken': 'a\nb',
};
const read = (sinks: unknown) =>
  readSinks(JSON.stringify({ sinks }), {
    ownTopics: ['decision.logs'],
    readSecret: (file) => {
      const text = secrets[file];
      if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
      return text;
    },
  });
const problemsOf = (sinks: unknown): readonly string[] => {
  const result = read(sinks);
  return result.ok ? [] : result.problems;
};
const web = { name: 'audit', kind: 'http', url: 'https://audit.example/in' };

it('reads each kind of sink, with defaults', () => {
  const result = read([
    { ...web, signing_key: { file: '/run/key' }, headers: { Authorization: { file: '/run/key' } } },
    { name: 'rows', kind: 'json-rows', url: 'http://rows.example:8123', table: 'logs.decisions' },
    { name: 'index', kind: 'bulk-index', url: 'http://index.example:9200/_bulk', index: 'decisions-{date}' },
    { name: 'otlp', kind: 'otlp', url: 'http://otlp.example:4318/v1/logs', resource: { 'service.name': 'mine' } },
    {
      name: 'topic',
      kind: 'kafka',
      topic: 'analytics',
      filter: { assets: ['price', 'flow:loan'], statuses: ['4xx', '503'] },
    },
  ]);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  expect(result.sinks.map(({ target }) => target)).toEqual([
    {
      ...{ kind: 'http', url: new URL(web.url), signingKey: secrets['/run/key'] },
      headers: { authorization: secrets['/run/key'] },
    },
    { kind: 'json-rows', url: new URL('http://rows.example:8123'), headers: {}, table: 'logs.decisions' },
    {
      ...{ kind: 'bulk-index', url: new URL('http://index.example:9200/_bulk'), headers: {} },
      ...{ index: 'decisions-{date}', action: 'create' },
    },
    {
      ...{ kind: 'otlp', url: new URL('http://otlp.example:4318/v1/logs'), headers: {} },
      resource: { 'service.name': 'mine' },
    },
    { kind: 'kafka', topic: 'analytics' },
  ]);
  expect(result.sinks[0]).toMatchObject({
    batch: { records: 500, bytes: 4_194_304 },
    timeoutMs: 10_000,
    retry: { initialMs: 500, maxMs: 60_000, attempts: 8, giveUpAfterMs: 21_600_000 },
    filter: { assets: undefined, workspaces: undefined, statuses: undefined, sampleRate: 1 },
    fields: { only: undefined, without: [] },
  });
  expect(result.sinks[4]?.filter).toMatchObject({
    assets: [
      { kind: undefined, slug: 'price' },
      { kind: 'flow', slug: 'loan' },
    ],
    statuses: [
      [400, 499],
      [503, 503],
    ],
  });
});

it('accepts any name of a header, each once', () => {
  const result = read([{ ...web, headers: { constructor: 'a', 'x-one': 'b' } }]);
  expect(result).toMatchObject({ ok: true, sinks: [{ target: { headers: { constructor: 'a', 'x-one': 'b' } } }] });
  expect(problemsOf([{ ...web, headers: { 'X-One': 'a', 'x-one': 'b' } }])).toEqual([
    '/sinks/0/headers/x-one is there twice.',
  ]);
});

it('reports every problem at once, with its path', () => {
  const problems = problemsOf([
    { ...web, name: 'Bad Name', timeout_ms: 1, colour: 'red' },
    {
      ...web,
      url: 'ftp://x',
      headers: { host: 'a', 'webhook-id': 'b', 'bad name': 'c', ok: { file: '/run/missing' } },
    },
    { ...web, name: 'archive', url: 'https://user:hunter2@x/#y', signing_key: { file: '/run/empty' } },
    { name: 'a', kind: 'carrier-pigeon' },
    { name: 'b', kind: 'json-rows', url: 'http://x', table: 'a`; DROP TABLE b' },
    { name: 'c', kind: 'kafka', topic: 'decision.logs' },
    { ...web, name: 'd', fields: { only: ['reqest.total'], without: ['request..x', 'status.x', 'id'] } },
    { ...web, name: 'd', headers: { x: { file: '/run/broken' } } },
    7,
  ]);
  for (const part of [
    '/sinks/0/name must match pattern',
    '/sinks/0/timeout_ms must be >= 100',
    '/sinks/0 has an unknown field "colour"',
    '/sinks/1/url is not an address',
    '/sinks/1/headers/host is set by the sink itself',
    '/sinks/1/headers/webhook-id is set by the sink itself',
    '/sinks/1/headers/bad name is not a valid name of a header',
    '/sinks/1/headers/ok names the file "/run/missing", which cannot be read (ENOENT)',
    '/sinks/2/name "archive" is the name of a store',
    '/sinks/2/url holds credentials',
    '/sinks/2/url has a part after #',
    '/sinks/2/signing_key names the file "/run/empty", which is empty',
    '/sinks/3/kind must be one of http, json-rows, bulk-index, otlp, kafka',
    '/sinks/4/table must match pattern',
    '/sinks/5/topic "decision.logs" is a topic that this deployment reads itself',
    '/sinks/6/fields/only/0 begins with "reqest", which is not a field',
    '/sinks/6/fields/without/0 has an empty name',
    '/sinks/6/fields/without/1 goes below "status"',
    '/sinks/6/fields/without/2 is "id"',
    '/sinks/7/name "d" names another sink too',
    '/sinks/7/headers/x holds a line break',
    '/sinks/8/kind must be one of',
  ])
    expect(problems.filter((problem) => problem.includes(part))).toHaveLength(1);
  expect(problems.join()).not.toContain('hunter2');
});

it('refuses a text that is not JSON, has no sinks, or has too many', () => {
  const options = { ownTopics: [], readSecret: () => 'x' };
  expect(readSinks('{"sinks": [}', options)).toMatchObject({
    ok: false,
    problems: [expect.stringMatching(/line 1, column 12/)],
  });
  expect(readSinks('[]', options)).toMatchObject({ ok: false });
  expect(readSinks('{"sinks": [], "more": 1}', options)).toMatchObject({ ok: false });
  expect(problemsOf(Array.from({ length: 21 }, (_, at) => ({ ...web, name: `s${at}` })))).toHaveLength(1);
  expect(readSinks('{"sinks": []}', options)).toEqual({ ok: true, sinks: [] });
});
