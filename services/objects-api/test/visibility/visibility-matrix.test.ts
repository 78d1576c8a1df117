import { operations } from '@decision/contracts';
import { describeMatrix, type MatrixKeys, type MatrixWorld, watchTables } from '@decision/local-stack';
import { Client } from 'pg';
import { type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';
import { ROWS } from './visibility-rows';
import { makeThings } from './visibility-world';

const own = operations.filter(({ service }) => service === 'objects-api');

let api: ObjectsApiUnderTest;
let world: MatrixWorld;
let client: Client;

beforeAll(async () => {
  api = await startObjectsApi();
  const workspaceId = await api.makeWorkspace('main');
  const makeKey = async (userGroups?: string[]) => ({
    key: await api.makeKey(workspaceId, 'admin', userGroups),
    userGroups,
  });
  const keys: MatrixKeys = {
    none: await makeKey(['east']),
    part: await makeKey(['north']),
    sees: await makeKey(['north', 'south']),
    all: await makeKey(),
  };
  const hidden = await makeThings({ api, workspaceId, admin: keys.all.key });
  client = new Client({ connectionString: api.databaseUrl });
  await client.connect();
  const watch = await watchTables(async (sql) => [(await client.query<Record<string, unknown>>(sql)).rows].flat());
  world = { ...{ workspaceId, hidden, marker: 'hidden', absent: { 'group.name': 'soath' }, keys, watch }, call };
});
afterAll(async () => {
  await client.end();
  await api.stop();
});

const call: MatrixWorld['call'] = async ({ method, path, body, key }) => {
  const response = await fetch(`${api.baseUrl}/api/v1${path}`, {
    method: method.toUpperCase(),
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, body: isJson ? await response.json() : namesOfMetrics(await response.text()) };
};

/** Only the names of metrics: numbers and labels differ from one request to the next. */
const namesOfMetrics = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith('# TYPE'));

describeMatrix({ title: 'objects', operations: own, rows: ROWS, world: () => world });
