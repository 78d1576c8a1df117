import { randomUUID } from 'node:crypto';
import { testStack } from '@decision/local-stack';
import { createDatabase, dropDatabase, requireDatabase } from '@decision/persistence';
import { type Admin, ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
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
    // The operator's login at a managed database: it may create roles and is not a superuser.
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

  const [solution = '', response = '', logs = ''] = ['solution', 'solution-response', 'logs'].map(
    (topic) => `${environment.MQ_TOPIC_PREFIX}${topic}`,
  );
  const administer = async <T>(work: (admin: Admin) => Promise<T>): Promise<T> => {
    const admin = new Kafka({ brokers: [mqBrokers], clientId: 'onlooker', logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.disconnect();
    }
  };
  const common = 'compression.type=producer, min.insync.replicas=1';
  const plan = [
    `${solution}: 3 partitions, 1 copy, max.message.bytes=33554432, retention.ms=300000, segment.ms=300000, ${common}`,
    `${response}: 2 partitions, 1 copy, max.message.bytes=33554432, retention.ms=300000, segment.ms=300000, ${common}`,
    `${logs}: 1 partition, 1 copy, max.message.bytes=67108864, retention.ms=3600000, segment.ms=3600000, ${common}`,
  ];
  const fitting = [`fits ${solution}`, `fits ${response}`, `fits ${logs}`, 'The topics fit.'];

  it('says what it would make and makes nothing, then makes it, and then finds that all fits', async () => {
    expect(await run(dryRun, environment)).toEqual({ code: 1, lines: plan.map((line) => `would create ${line}`) });
    expect(await administer((admin) => admin.listTopics())).not.toEqual(
      expect.arrayContaining([expect.stringContaining(environment.MQ_TOPIC_PREFIX)]),
    );
    expect(await run(prepareTopics, environment)).toEqual({
      code: 0,
      lines: [...plan.map((line) => `created ${line}`), ...fitting],
    });
    expect(await run(prepareTopics, environment)).toEqual({ code: 0, lines: fitting });
    expect(await run(dryRun, environment)).toEqual({ code: 0, lines: fitting });
  });

  it('makes the topics with the settings that it said', async () => {
    const { resources } = await administer((admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: ConfigResourceTypes.TOPIC, name: logs }],
      }),
    );
    const found = resources[0]?.configEntries.map(({ configName, configValue }) => `${configName}=${configValue}`);
    expect(found).toEqual(
      expect.arrayContaining([
        'max.message.bytes=67108864',
        'retention.ms=3600000',
        'segment.ms=3600000',
        'compression.type=producer',
        'min.insync.replicas=1',
      ]),
    );
  });

  it('names every difference of topics that exist with its command, and changes none of them', async () => {
    const prefix = `${uniqueName('other')}.`;
    const settings = [
      { name: 'max.message.bytes', value: '1048588' },
      { name: 'retention.ms', value: '60000' },
      { name: 'segment.ms', value: '90000000' },
      { name: 'compression.type', value: 'zstd' },
      { name: 'min.insync.replicas', value: '2' },
    ];
    await administer((admin) =>
      admin.createTopics({
        waitForLeaders: false,
        topics: [
          { topic: `${prefix}logs`, numPartitions: 1, replicationFactor: 1, configEntries: settings },
          {
            topic: `${prefix}solution`,
            numPartitions: 3,
            replicationFactor: 1,
            configEntries: [
              { name: 'max.message.bytes', value: '33554432' },
              { name: 'retention.ms', value: '-1' },
              { name: 'segment.ms', value: '300000' },
            ],
          },
        ],
      }),
    );
    const wanted = {
      ...{ ...environment, MQ_TOPIC_PREFIX: prefix, TOPIC_SOLUTION_PARTITIONS: '4' },
      ...{ TOPIC_LOGS_REPLICATION: '2', TOPIC_SOLUTION_RESPONSE_REPLICATION: '3' },
    };
    const alter = `kafka-configs --bootstrap-server ${mqBrokers} --alter --entity-type topics --entity-name`;
    const differences = [
      expect.stringMatching(/^error: .*solution" has 3 partitions, 4 are expected/),
      `  kafka-topics --bootstrap-server ${mqBrokers} --alter --topic ${prefix}solution --partitions 4`,
      expect.stringMatching(/^warning: .*solution" keeps messages for ever, 300000 ms are wanted/),
      `  ${alter} ${prefix}solution --add-config retention.ms=300000`,
      expect.stringMatching(/^error: .*solution-response" does not exist: create it with at least 2 partitions/),
      expect.stringMatching(/^error: .*solution-response" is to have 3 copies, but the cluster has 1 broker/),
      expect.stringMatching(/^error: .*logs" takes messages up to 1048588 bytes, 67108864 are needed/),
      `  ${alter} ${prefix}logs --add-config max.message.bytes=67108864`,
      expect.stringMatching(/^error: .*logs" keeps messages for 60000 ms, 3600000 are needed/),
      `  ${alter} ${prefix}logs --add-config retention.ms=3600000`,
      expect.stringMatching(/^warning: .*logs" has compression.type=zstd/),
      `  ${alter} ${prefix}logs --add-config compression.type=producer`,
      expect.stringMatching(/^error: .*logs" has 1 copy of a partition, 2 are wanted: .*kafka-reassign-partitions/),
      expect.stringMatching(
        /^error: .*logs" refuses every write, since 2 copies must acknowledge it and a partition has 1/,
      ),
      `  ${alter} ${prefix}logs --add-config min.insync.replicas=1`,
      expect.stringMatching(/^warning: .*logs" closes its segments after 90000000 ms, 3600000 are wanted/),
      `  ${alter} ${prefix}logs --add-config segment.ms=3600000`,
    ];
    expect(await run(dryRun, wanted)).toEqual({ code: 1, lines: differences });
    expect(await run(prepareTopics, wanted)).toEqual({ code: 1, lines: differences });
  });

  it('ends well if nothing differs but what costs room', async () => {
    const longer = { ...environment, TOPIC_LOGS_RETENTION_MS: '60000' };
    expect(await run(prepareTopics, longer)).toMatchObject({
      code: 0,
      lines: expect.arrayContaining([
        expect.stringMatching(/^warning: .*logs" keeps messages for 3600000 ms/),
      ]) as unknown,
    });
  });

  it('refuses to begin without brokers', async () => {
    expect(await run(prepareTopics, {})).toEqual({
      code: 1,
      lines: ['MQ_BROKERS is not set. Set it to the brokers, host:port.'],
    });
  });
});
