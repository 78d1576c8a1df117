import { randomUUID } from 'node:crypto';
import { testStack } from '@decision/local-stack';
import { createDatabase, dropDatabase, requireDatabase } from '@decision/persistence';
import { Client } from 'pg';
import { makeFirstKey } from '../src/cli/first-key';
import { prepareDatabase } from '../src/cli/prepare-database';
import { prepareTopics } from '../src/cli/prepare-topics';
import { describeFailure } from '../src/cli/run-cli';

jest.setTimeout(120_000);

type Program = (environment: Record<string, string>, print: (line: string) => void) => Promise<number>;

/** Runs a program as `runCli` does, without ending the process. */
const run = async (program: Program, environment: Record<string, string>) => {
  const lines: string[] = [];
  const code = await program(environment, (line) => lines.push(line)).catch((error: unknown) => {
    lines.push(describeFailure(error));
    return 1;
  });
  return { code, lines };
};

const statement = async (url: string, sql: string): Promise<void> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
};

describe('programs that prepare the database', () => {
  const { databaseUrl: serverUrl, uniqueName } = testStack();
  const name = uniqueName('prepared');
  const [owner, service] = [`owner_${randomUUID().slice(0, 8)}`, `service_${randomUUID().slice(0, 8)}`];
  const withLogin = (user: string, password: string): string => {
    const url = new URL(serverUrl);
    Object.assign(url, { pathname: `/${name}`, username: user, password });
    return url.href;
  };
  const [ownerUrl, serviceUrl] = [withLogin(owner, 'owner-password'), withLogin(service, 'a%2Fb@c d')];
  const environment = {
    DATABASE_URL: ownerUrl,
    SERVICE_LOGIN_URL: serviceUrl,
    WORKSPACE_SLUG: 'main',
    ADMIN_EMAIL: 'admin@example.com',
    ADMIN_PASSWORD: 'correct horse battery staple',
  };

  beforeAll(async () => {
    await createDatabase(serverUrl, name);
    // What a managed database gives an operator: a login that may make roles and is no superuser.
    await statement(serverUrl, `create role ${owner} login createrole password 'owner-password'`);
    const runtimeRole = 'grant decision_runtime to current_user with admin option';
    await statement(serverUrl, runtimeRole).catch(() => undefined);
    await statement(serverUrl, `grant decision_runtime to ${owner} with admin option`).catch(() => undefined);
    await statement(serverUrl, `alter database ${name} owner to ${owner}`);
    const here = new URL(serverUrl);
    here.pathname = `/${name}`;
    await statement(here.href, `alter schema public owner to ${owner}`);
  });

  afterAll(async () => {
    await dropDatabase(serverUrl, name);
    await statement(serverUrl, `drop role if exists ${service}; drop role if exists ${owner}`).catch(() => undefined);
  });

  it('make schema, login, workspace and admin with a login that is no superuser, while a service waits for them', async () => {
    const waiting = requireDatabase(serviceUrl, { deadlineMs: 60_000 });
    const { code, lines } = await run(prepareDatabase, environment);
    expect(lines.filter((line) => !line.startsWith('applied '))).toEqual([
      `The login "${service}" may act for the services.`,
      'The workspace "main" was made.',
      'The admin has the first password.',
    ]);
    expect(code).toBe(0);
    await expect(waiting).resolves.toBeUndefined();
  });

  it('change nothing the second time, and no password of the admin', async () => {
    expect(await run(prepareDatabase, { ...environment, ADMIN_PASSWORD: 'another password' })).toEqual({
      code: 0,
      lines: [
        'The schema is up to date.',
        `The login "${service}" may act for the services.`,
        'The workspace "main" is there.',
        'The admin has a password already; it stays.',
      ],
    });
  });

  it('refuse services that would own the schema', async () => {
    expect(await run(prepareDatabase, { ...environment, SERVICE_LOGIN_URL: ownerUrl })).toMatchObject({
      code: 1,
      lines: expect.arrayContaining([
        'SERVICE_LOGIN_URL names the user of DATABASE_URL: services must not own the schema.',
      ]) as unknown,
    });
  });

  it('make a first key with the login of the services', async () => {
    const made = await run((env, print) => makeFirstKey(env, print, ['main']), { DATABASE_URL: serviceUrl });
    expect(made).toEqual({ code: 0, lines: [expect.stringMatching(/^\S{40,}$/)] });
    const missing = await run((env, print) => makeFirstKey(env, print, ['none']), { DATABASE_URL: serviceUrl });
    expect(missing).toEqual({ code: 1, lines: ['There is no workspace "none".'] });
  });
});

describe('the program that prepares topics', () => {
  const { mqBrokers, uniqueName } = testStack();
  const environment = {
    MQ_BROKERS: mqBrokers,
    MQ_TOPIC_PREFIX: `${uniqueName('prepared')}.`,
    TOPIC_SOLUTION_PARTITIONS: '3',
    TOPIC_SOLUTION_RESPONSE_PARTITIONS: '2',
    TOPIC_LOGS_PARTITIONS: '1',
    TOPIC_LOGS_RETENTION_MS: '3600000',
  };
  const dryRun: Program = (env, print) => prepareTopics(env, print, ['--dry-run']);

  it('says what is missing, makes it, and then finds that all fits', async () => {
    const [solution, response, logs] = ['solution', 'solution-response', 'logs'].map(
      (topic) => `${environment.MQ_TOPIC_PREFIX}${topic}`,
    );
    expect(await run(dryRun, environment)).toEqual({
      code: 1,
      lines: [
        `The topic "${solution}" does not exist: create it with at least 3 partitions.`,
        `The topic "${response}" does not exist: create it with at least 2 partitions.`,
        `The topic "${logs}" does not exist: create it with at least 1 partitions.`,
      ],
    });
    expect(await run(prepareTopics, environment)).toEqual({
      code: 0,
      lines: [`created ${solution}`, `created ${response}`, `created ${logs}`, 'The topics fit.'],
    });
    expect(await run(prepareTopics, environment)).toEqual({ code: 0, lines: ['The topics fit.'] });
  });

  it('leaves topics with too few partitions as they are, and says so', async () => {
    expect(await run(prepareTopics, { ...environment, TOPIC_SOLUTION_PARTITIONS: '4' })).toEqual({
      code: 1,
      lines: [expect.stringContaining('has 3 partitions, 4 are expected')],
    });
  });

  it('refuses to begin without brokers', async () => {
    expect(await run(prepareTopics, {})).toEqual({
      code: 1,
      lines: ['MQ_BROKERS is not set. Set it to the brokers, host:port.'],
    });
  });
});
