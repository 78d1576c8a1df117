import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { testStack, waitUntil } from '@decision/local-stack';
import { cacheContents, databaseContents, decisionRecords, metricsOfAll } from './contents';
import { type Answer, type FleetUnderTest, SOLVING, startFleetUnderTest } from '../fleet/fleet-under-test';

/**
 * Secrets of a vault, given to every kind of node that may hold one, and searched for wherever somebody could read them: answers, explanations,
 * decision records, logs, metrics, the cache and the database. The needles are the parts of the secrets that no encoding changes.
 */
const SECONDS = 1_000;
const needle = (): string => randomBytes(12).toString('hex');
const [ofToken, ofPlain, ofLines, ofPassword] = [needle(), needle(), needle(), needle()];
/** Not a secret: the search must find it where it is not hidden. */
const visible = `visible-${needle()}`;
const TOKEN = `t-${ofToken}"+/&=?#%<'>`;
const PLAIN = `p${ofPlain}`;
const suffix = randomUUID().slice(0, 8);
const subject = `subject-${suffix}`;

let service: FleetUnderTest;
let port: number;
const seen: string[] = [];
const answers: Answer[] = [];

const wsdl = (): string => `<?xml version="1.0"?>
<definitions name="N" targetNamespace="urn:n" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:tns="urn:n"
  xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <types><xsd:schema targetNamespace="urn:n">
    <xsd:element name="Note"><xsd:complexType><xsd:sequence><xsd:element name="token" type="xsd:string"/></xsd:sequence></xsd:complexType></xsd:element>
    <xsd:element name="NoteResponse"><xsd:complexType><xsd:sequence><xsd:element name="note" type="xsd:string"/></xsd:sequence></xsd:complexType></xsd:element>
  </xsd:schema></types>
  <message name="In"><part name="parameters" element="tns:Note"/></message>
  <message name="Out"><part name="parameters" element="tns:NoteResponse"/></message>
  <portType name="P"><operation name="Note"><input message="tns:In"/><output message="tns:Out"/></operation></portType>
  <binding name="B" type="tns:P"><soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="Note"><soap:operation soapAction="note"/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>
  </binding>
  <service name="S"><port name="P" binding="tns:B"><soap:address location="http://127.0.0.1:${port}/soap"/></port></service>
</definitions>`;

const envelope = (body: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;

/** Repeats every request to its caller, as careless servers do. */
const careless = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { url = '', headers } = request;
  const body = await text(request);
  seen.push([url, JSON.stringify(headers), body].join('\n'));
  const sent = /<(?:\w+:)?token>(.*?)<\/(?:\w+:)?token>/.exec(body)?.[1] ?? '';
  const repeated = JSON.stringify({ url, headers, body, decoded: decodeURIComponent(url) });
  const redirect = (location: string) => response.writeHead(302, { location }).end(repeated);
  const kind = url.split(/[/?]/, 2)[1];
  response.setHeader('content-type', kind?.startsWith('soap') === true ? 'text/xml' : 'application/json');
  if (url === '/soap?wsdl') return void response.end(wsdl());
  if (url === '/soap' && headers['x-fault'] === undefined)
    return void response.end(envelope(`<n:NoteResponse xmlns:n="urn:n"><n:note>${sent}</n:note></n:NoteResponse>`));
  if (url === '/soap')
    return void response
      .writeHead(500)
      .end(envelope(`<s:Fault><faultcode>s:Server</faultcode><faultstring>No ${sent} here</faultstring></s:Fault>`));
  if (kind === 'broken') return void response.writeHead(503, TOKEN.slice(0, 10)).end(repeated);
  if (kind === 'text') return void response.end(`{"not json": ${TOKEN}`);
  if (kind === 'moved') return void redirect(`/none?${url}`);
  if (kind === 'scheme') return void redirect(`${PLAIN}://x`);
  if (kind === 'host') return void redirect(`http://${PLAIN}.invalid/${PLAIN}`);
  if (kind === 'none') return void response.writeHead(404).end(repeated);
  return void response.end(repeated);
};
const server = createServer((request, response) => void careless(request, response));

interface Case {
  readonly name: string;
  readonly node: Readonly<Record<string, unknown>>;
  /** Its result: outputs, or the error. */
  readonly expected: 'answers' | RegExp;
  readonly secrets?: readonly (readonly [name: string, input: string])[];
  readonly outputs?: readonly string[];
}

const at = (path: string): string => `http://127.0.0.1:${port}/${path}`;
const outputsOf = (...keys: readonly string[]) => ({ outputs: keys.map((key) => ({ key, type: 'any' })) });
const DSN = [['FLOW_SECRET_DSN', 'dsn'], ['FLOW_SECRET_TOKEN', 'token']] as const; // prettier-ignore
const PLAIN_TOKEN = [['FLOW_SECRET_PLAIN', 'token']] as const;
const LINES = [['FLOW_SECRET_LINES', 'token']] as const;
const everywhere = {
  ...{ type: 'api', method: 'POST', headers: { authorization: 'Bearer {{token}}', 'x-id': '{{id}}' } },
  body: { token: '{{token}}', within: 'a {{token}} b', id: '{{id}}' },
};

const cases = (): readonly Case[] => [
  {
    ...{ name: 'code-repeats', expected: 'answers', outputs: ['echo', 'within', 'list', 'id'] },
    node: {
      ...{ type: 'code', ...outputsOf('echo', 'within', 'list', 'id') },
      code: 'const { token, id } = inputs; return { echo: token, within: `a ${token} b`, list: [{ [token]: encodeURIComponent(token) }], id };',
    },
  },
  {
    ...{ name: 'code-throws', expected: /"ask"/ },
    node: { type: 'code', code: 'throw new Error(`No ${inputs.token} and ${JSON.stringify(inputs)}`)' },
  },
  {
    ...{ name: 'code-names', expected: /"ask"/ },
    node: { type: 'code', code: 'const e = new Error("x"); e.name = inputs.token; throw e;' },
  },
  {
    ...{ name: 'api-repeats', expected: 'answers', outputs: ['body'] },
    node: { ...everywhere, url: at('echo/{{token}}/x?q={{token}}&id={{id}}'), useCache: true, cacheExpiration: 300 },
  },
  {
    ...{ name: 'api-key', expected: 'answers', outputs: ['body'] },
    node: { ...everywhere, url: at('echo'), useCache: true, cacheExpiration: 300, cacheKey: '{{token}} {{id}}' },
  },
  { name: 'api-broken', node: { ...everywhere, url: at('broken/{{token}}'), retries: 2 }, expected: /answered 503/ },
  { name: 'api-text', node: { ...everywhere, url: at('text') }, expected: /not JSON/ },
  {
    ...{ name: 'api-moved', expected: /answered 404/ },
    node: { type: 'api', url: at('moved/{{token}}'), headers: everywhere.headers },
  },
  { name: 'api-scheme', node: { type: 'api', url: at('scheme') }, secrets: PLAIN_TOKEN, expected: /is not followed/ },
  { name: 'api-host', node: { type: 'api', url: at('host') }, secrets: PLAIN_TOKEN, expected: /has no address/ },
  {
    ...{ name: 'api-tls', expected: /could not be asked/ },
    node: { ...everywhere, url: at('echo/{{token}}').replace('http', 'https') },
  },
  {
    ...{ name: 'api-lines', expected: /line break/, secrets: LINES },
    node: { type: 'api', url: at('echo'), headers: { 'x-token': '{{token}}' } },
  },
  {
    ...{ name: 'db-repeats', expected: 'answers', secrets: DSN, outputs: ['rows', 'echo'] },
    node: {
      ...{ type: 'db', connectionString: '{{dsn}}', useCache: true, ...outputsOf('echo') },
      query:
        "select cast(:token as text) as echo, cast(:id as text) as id, jsonb_build_object('t', cast(:token as text)) as object",
    },
  },
  {
    ...{ name: 'db-refuses', expected: /"ask"/, secrets: DSN },
    node: { type: 'db', connectionString: '{{dsn}}', query: 'select cast(cast(:token as text) as integer)' },
  },
  {
    ...{ name: 'db-password', expected: /"ask"/, secrets: [['FLOW_SECRET_WRONG_DSN', 'dsn']] },
    node: { type: 'db', connectionString: '{{dsn}}', query: 'select 1' },
  },
  {
    ...{ name: 'db-nowhere', expected: /"ask"/, secrets: [['FLOW_SECRET_NOWHERE_DSN', 'dsn']] },
    node: { type: 'db', connectionString: '{{dsn}}', query: 'select 1' },
  },
  {
    ...{ name: 'db-token', expected: /"ask"/, secrets: [['FLOW_SECRET_TOKEN', 'dsn']] },
    node: { type: 'db', connectionString: '{{dsn}}', query: 'select 1' },
  },
  {
    ...{ name: 'soap-repeats', expected: 'answers', outputs: ['response', 'note'] },
    node: { type: 'soap', wsdlUrl: at('soap?wsdl'), headers: { 'x-token': '{{token}}' }, ...outputsOf('note') },
  },
  {
    ...{ name: 'soap-fault', expected: /"ask"/ },
    node: { type: 'soap', wsdlUrl: at('soap?wsdl'), headers: { 'x-fault': '{{token}}' } },
  },
];

const slugOf = ({ name }: Case): string => `${name}-${suffix}`;

const flowOf = (one: Case, settings: object) => {
  const secrets = one.secrets ?? [['FLOW_SECRET_TOKEN', 'token']];
  return {
    nodes: [
      { ref: 'in', type: 'origin', rule: subject },
      { ref: 'keys', type: 'vault', secrets: secrets.map(([name]) => ({ name })) },
      { ref: 'ask', ...one.node },
      { ref: 'out', type: 'result' },
    ],
    connections: [
      ...secrets.map(([output, input]) => ({ from: 'keys', output, to: 'ask', input })),
      // A SOAP request has no element "id".
      ...(one.node['type'] === 'soap' ? [] : [{ from: 'in', output: 'request_id', to: 'ask', input: 'id' }]),
      { from: 'in', output: 'request_id', to: 'out', input: 'id' },
      ...(one.outputs ?? []).map((output) => ({ from: 'ask', output, to: 'out', input: `the ${output}` })),
    ],
    settings,
  };
};

const call = async (...args: Parameters<FleetUnderTest['call']>): Promise<Answer> => {
  const answer = await service.call(...args);
  answers.push(answer);
  return answer;
};

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo); // it listens on TCP
  const database = new URL(testStack().databaseUrl);
  const environment = {
    ...{
      FLOW_API_ALLOWED_HOSTS: '127.0.0.1',
      FLOW_DB_ALLOWED_HOSTS: '127.0.0.1',
      FLOW_SOAP_ALLOWED_HOSTS: '127.0.0.1',
    },
    ...{
      FLOW_VAULT_GRANTS: '* environment:FLOW_SECRET_',
      FLOW_CIRCUIT_FAILURES: '1000',
      LOG_LEVEL: 'trace',
      LOG_REQUESTS: 'true',
    },
    ...{ FLOW_SECRET_TOKEN: TOKEN, FLOW_SECRET_PLAIN: PLAIN, FLOW_SECRET_LINES: `l-${ofLines}\r\nx-other: ${ofLines}` },
    FLOW_SECRET_DSN: String(database).replace(/^postgres:/, 'postgresql:'),
    FLOW_SECRET_WRONG_DSN: `postgresql://${database.username}:w-${ofPassword}@${database.host}/postgres`,
    FLOW_SECRET_NOWHERE_DSN: `postgresql://nobody:n-${ofPassword}@127.0.0.1:1/${ofPassword}`,
  };
  service = await startFleetUnderTest({
    ...{ services: [...SOLVING, 'contexts-api', 'log-collector'], examples: [] },
    environment: {
      ...{ 'solve-worker': environment, 'contexts-api': environment },
      ...{ 'hps-gateway': { LOG_LEVEL: 'trace', LOG_REQUESTS: 'true' }, 'objects-api': { LOG_LEVEL: 'trace' } },
    },
  });
  const schema = [{ key: 'id', name: 'id', type: 'string' }];
  const rule = {
    slug: subject,
    name: subject,
    requestSchema: schema,
    responseSchema: [],
    conditions: [],
    _publish: true,
  };
  expect(await call('POST', '/api/v1/admin/rules/import', { rule })).toMatchObject({ status: 200 });
  for (const one of cases())
    for (const settings of [{}, { failedResponseMode: 'fail' }]) {
      const slug = `${slugOf(one)}${'failedResponseMode' in settings ? '-strict' : ''}`;
      const flow = { slug, name: slug, ...flowOf(one, settings) };
      expect(await call('POST', '/api/v1/admin/flows/import', { flow })).toMatchObject({ status: 200 });
    }
}, 360 * SECONDS);

afterAll(async () => {
  await service?.stop();
  await new Promise((resolve) => server.close(resolve));
}, 60 * SECONDS);

/** Names of the places that contain a needle. */
const holdersOf = (word: string, places: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(places).flatMap(([name, content]) => (content.toLowerCase().includes(word) ? [name] : []));

const secretNeedles = (): readonly string[] => [
  ...[ofToken, ofPlain, ofLines, ofPassword],
  ...[TOKEN, PLAIN].flatMap((secret) => [
    Buffer.from(secret).toString('base64').toLowerCase(),
    Buffer.from(secret).toString('hex'),
  ]),
  decodeURIComponent(new URL(testStack().databaseUrl).password).toLowerCase(),
];

/** Flows of a context: their answers become facts with a history, and each submission reports failures. */
const submitToBoundFlows = async (): Promise<void> => {
  const schema = {
    base: [
      ...['case_id', 'id'].map((key) => ({ key, type: 'string' })),
      { key: 'echo', type: 'string', output_only: true },
      { key: 'body', type: 'object', output_only: true },
    ],
  };
  const made = await call('POST', '/api/v1/admin/contexts', {
    name: `Cases ${suffix}`,
    schema,
    identity_fact: 'case_id',
  });
  expect(made).toMatchObject({ status: 200 });
  const { slug } = made.body as { readonly slug: string };
  for (const one of cases().filter(({ name }) =>
    ['code-repeats', 'api-repeats', 'api-broken', 'db-refuses'].includes(name),
  )) {
    const { nodes, connections } = flowOf(one, {});
    const bound = `bound-${slugOf(one)}`;
    const facts = connections.map((edge) => (edge.to === 'out' ? { ...edge, input: edge.output } : edge));
    const results = facts.filter(({ to, output }) => to !== 'out' || ['echo', 'body'].includes(output));
    const context = { slug, version: 'latest' };
    const flow = { slug: bound, name: bound, nodes, connections: results, context };
    expect(await call('POST', '/api/v1/admin/flows/import', { flow })).toMatchObject({ status: 200 });
  }
  const submitted = await call('POST', `/api/v1/contexts/${slug}/one`, { id: visible });
  const { cascaded } = submitted.body as { readonly cascaded: readonly { readonly status: string }[] };
  expect(cascaded.map(({ status }) => status).sort()).toEqual([
    'evaluation_error',
    'infrastructure_error',
    'solved',
    'solved',
  ]);
  const read = await call('GET', `/api/v1/contexts/${slug}/one`);
  expect(read.body).toMatchObject({ state: { echo: '[secret]' } });
  await call('GET', `/api/v1/contexts/${slug}/one/history`);
};

it('keeps secrets of a vault out of answers, explanations, decision records, logs, metrics, the cache and the database', async () => {
  for (const one of cases()) {
    const path = `/api/v1/flows/${slugOf(one)}`;
    const input = { id: visible };
    for (const turn of ['', '?explain=true', '?explain=true']) {
      const { status, body } = await call('POST', `${path}${turn}`, input, { 'idempotency-key': randomUUID() });
      expect({ name: one.name, status, body }).toMatchObject({
        status: 200,
        body: one.expected === 'answers' ? { id: visible } : { error: expect.stringMatching(one.expected) },
      });
      if (one.expected === 'answers') expect(JSON.stringify(body)).toContain('[secret]');
    }
    await call('POST', path, [input, input]);
    const strict = await call('POST', `${path}-strict?explain=true`, input);
    expect(strict.status).toBe(one.expected === 'answers' ? 200 : 500);
  }
  await submitToBoundFlows();
  // The secrets were used, and cacheable answers are cached.
  const used = seen.join('\n');
  expect(used).toContain(encodeURIComponent(ofToken));
  expect(used).toMatch(new RegExp(`"authorization":"Bearer t-${ofToken}`));
  expect(used).toMatch(new RegExp(`<(\\w+:)?token>t-${ofToken}`));
  const places: Record<string, string> = {};
  await waitUntil(
    async () => (await decisionRecords(service.fleet)).includes(`soap-fault-${suffix}-strict`),
    'the last decision is recorded',
  );
  places['decision records'] = await decisionRecords(service.fleet);
  places['cache'] = await cacheContents(service.fleet);
  places['database'] = await databaseContents(service.databaseUrl);
  places['answers'] = answers.map(({ body, headers }) => JSON.stringify([body, [...headers]])).join('\n');
  const open = holdersOf(visible, places);
  places['metrics'] = await metricsOfAll(service.fleet);
  places['logs'] = service.lines.join('\n');
  expect(open).toEqual(['decision records', 'cache', 'database', 'answers']);
  expect(places['metrics']).toMatch(/decision_flow_call_duration_seconds_count\{.*kind="vault",outcome="ok"/);
  expect(places['metrics']).toMatch(/kind="(?:api|db)",outcome="cached"/);
  expect(places['logs']).toContain('[solve-worker]');
  for (const word of secretNeedles()) expect({ word, holders: holdersOf(word, places) }).toEqual({ word, holders: [] });
}, 300_000);
