import type { BrokerSettings } from '../settings';
import { kafkaConfig } from './kafka-client';
import { createSocketTracker } from './socket-tracker';

const settings: BrokerSettings = { brokers: ['a:1', 'b:2', 'c:3'], clientId: 'me', topicPrefix: '' };
const lines: { level: string; fields: object; message: string }[] = [];
const line =
  (level: string) =>
  (fields: object, message: string): void => {
    lines.push({ level, fields, message });
  };
const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };

describe('kafkaConfig', () => {
  it('uses neither TLS nor SASL unless told to', () => {
    const config = kafkaConfig(settings, log, createSocketTracker());
    expect(config.ssl).toBeUndefined();
    expect(config.sasl).toBeUndefined();
    expect(config.brokers).toEqual(['a:1', 'b:2', 'c:3']);
  });

  it('is named after its client id, and its instance id if it has one', () => {
    expect(kafkaConfig(settings, log, createSocketTracker()).clientId).toBe('me');
    expect(kafkaConfig({ ...settings, instanceId: 'h:1' }, log, createSocketTracker()).clientId).toBe('me@h:1');
  });

  it('tries each address at least once', () => {
    expect(kafkaConfig(settings, log, createSocketTracker()).retry?.retries).toBeGreaterThanOrEqual(3);
  });

  it('checks certificates even if only an authority is given', () => {
    const config = kafkaConfig({ ...settings, tls: { ca: 'PEM' } }, log, createSocketTracker());
    expect(config.ssl).toEqual({ rejectUnauthorized: true, ca: 'PEM' });
  });

  it('passes a client certificate and another server name on', () => {
    const tls = { cert: 'C', key: 'K', serverName: 'broker.internal', rejectUnauthorized: false };
    const config = kafkaConfig({ ...settings, tls }, log, createSocketTracker());
    expect(config.ssl).toEqual({ rejectUnauthorized: false, cert: 'C', key: 'K', servername: 'broker.internal' });
  });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)('authenticates by %s', (mechanism) => {
    const sasl = { mechanism, username: 'u', password: 'p' };
    expect(kafkaConfig({ ...settings, sasl }, log, createSocketTracker()).sasl).toEqual(sasl);
  });

  it("writes the library's lines as details, without the fields it attaches", () => {
    const write = kafkaConfig(settings, log, createSocketTracker()).logCreator?.(1);
    const extra = { timestamp: '', message: 'Connection error', broker: 'a:1', payload: 'secret' };
    write?.({ namespace: 'Connection', level: 1, label: 'ERROR', log: extra });
    expect(lines.at(-1)).toEqual({
      level: 'debug',
      message: 'Connection error',
      fields: { namespace: 'Connection', label: 'ERROR', broker: 'a:1', groupId: undefined },
    });
  });
});
