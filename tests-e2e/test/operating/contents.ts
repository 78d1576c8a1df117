import { randomUUID } from 'node:crypto';
import { topicName } from '@decision/contracts';
import { type Fleet } from '@decision/launcher';
import { waitUntil } from '@decision/local-stack';
import { Kafka, logLevel } from 'kafkajs';
import { Client } from 'pg';
import { createClient } from 'redis';

/** The decision records of a fleet, from the first one. */
export const decisionRecords = async ({ environment }: Fleet): Promise<string> => {
  const { MQ_TOPIC_PREFIX: prefix = '', MQ_BROKERS: brokers = '' } = environment;
  const kafka = new Kafka({ brokers: brokers.split(','), clientId: 'reader', logLevel: logLevel.NOTHING });
  const topic = topicName(prefix, 'logs');
  const admin = kafka.admin();
  await admin.connect();
  const ends = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  const left = new Map(
    ends.filter(({ low, high }) => low !== high).map(({ partition, high }) => [partition, Number(high)]),
  );
  const consumer = kafka.consumer({ groupId: `${prefix}reader.${randomUUID()}`, maxWaitTimeInMs: 100 });
  const records: string[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: ({ partition, message }) => {
      records.push(`${JSON.stringify(message.headers)}${String(message.key)}${String(message.value)}`);
      if (Number(message.offset) + 1 >= (left.get(partition) ?? 0)) left.delete(partition);
      return Promise.resolve();
    },
  });
  await waitUntil(() => left.size === 0, 'all decision records are read');
  await consumer.disconnect();
  return records.join('\n');
};

/** Every key of the cache server, with its value. */
export const cacheContents = async ({ environment }: Fleet): Promise<string> => {
  const client = createClient({ url: environment['CACHE_URL'] ?? '', RESP: 2 });
  client.on('error', () => undefined);
  await client.connect();
  const contents: string[] = [];
  try {
    for await (const keys of client.scanIterator({ COUNT: 1_000 }))
      for (const key of keys) {
        const type = await client.type(key);
        if (type === 'none') continue; // it was removed since the scan
        const read = { string: 'GET', hash: 'HGETALL', set: 'SMEMBERS', list: 'LRANGE', zset: 'ZRANGE' }[type];
        if (read === undefined) throw new Error(`The key ${key} is a ${type}, which is not searched.`);
        const range = read.endsWith('RANGE') ? ['0', '-1'] : [];
        contents.push(key, JSON.stringify(await client.sendCommand([read, key, ...range])));
      }
    return contents.join('\n');
  } finally {
    client.destroy();
  }
};

/** Every row of every table. */
export const databaseContents = async (connectionString: string): Promise<string> => {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public'",
    );
    const contents: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ content: string | null }>(
        `select string_agg(t::text, chr(10)) as content from ${name} t`,
      );
      contents.push(rows[0]?.content ?? '');
    }
    return contents.join('\n');
  } finally {
    await client.end();
  }
};

/** The metrics of every process of a fleet. */
export const metricsOfAll = async ({ processes }: Fleet): Promise<string> =>
  (await Promise.all(processes.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()))).join('\n');
