import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SecureBrokers } from '@decision/local-stack';
import { makeSelfSigned, waitUntil } from '@decision/local-stack';
import { awsIamTokens } from '../src/security/aws-iam-token';
import { fileTokens } from '../src/security/file-token';
import { gcpTokens } from '../src/security/gcp-token';
import { oauthTokens } from '../src/security/oauth-token';
import { type Broker, type BrokerLog, type BrokerSettings, createBroker } from '../src';
import { createTestTopics, envelope, startRequester, startResponder } from './harness';
import { type OwnBroker, startOwnBroker } from './own-stack';
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint';

jest.setTimeout(240_000);

const ACCOUNT = { username: 'alice', password: 'hush-9f2c' };
const CLIENT = { clientId: 'gateway', clientSecret: 'whisper-77aa' };

const ACCOUNT_PATH = '/computeMetadata/v1/instance/service-accounts/default';

/** A token that the broker accepts, because it is configured not to check signatures. */
const unsignedToken = (seconds: number): string => {
  const part = (fields: object): string => Buffer.from(JSON.stringify(fields)).toString('base64url');
  const now = Math.floor(Date.now() / 1_000);
  return `${part({ alg: 'none' })}.${part({ sub: 'gateway', iat: now, exp: now + seconds })}.`;
};

describe('a broker that asks who is there', () => {
  let own: OwnBroker;
  let endpoint: TokenEndpoint;
  const opened: Broker[] = [];
  const lines: string[] = [];

  beforeAll(async () => {
    own = await startOwnBroker(ACCOUNT);
    endpoint = await startTokenEndpoint();
  });
  afterEach(async () => {
    for (const broker of opened.splice(0)) await broker.close();
    lines.length = 0;
  });
  afterAll(async () => {
    await endpoint.stop();
    await own.stop();
  });

  const secure = (): SecureBrokers => {
    if (own.secure === undefined) throw new Error('The broker has no secure listeners.');
    return own.secure;
  };

  const open = (address: string, security: Pick<BrokerSettings, 'tls' | 'sasl'>): Broker => {
    const write = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
    const log: BrokerLog = { debug: write, info: write, warn: write, error: write };
    const topicPrefix = `${randomUUID().slice(0, 8)}.`;
    const broker = createBroker({ brokers: [address], clientId: 'security', topicPrefix, ...security }, log);
    opened.push(broker);
    return broker;
  };

  const tls = (): { ca: string; serverName: string } => ({ ca: secure().certificate, serverName: 'localhost' });

  const expectAnswer = async (broker: Broker): Promise<void> => {
    await createTestTopics(broker);
    await startResponder(broker);
    const requester = await startRequester(broker);
    expect((await requester.request(envelope(), Buffer.from('safe'))).toString()).toBe('safe');
    const told = lines.join('\n');
    for (const secret of [ACCOUNT.password, CLIENT.clientSecret]) expect(told).not.toContain(secret);
  };

  /** Waits until a requester is not ready for a matching reason. Returns all its reasons and log lines. */
  const refused = async (broker: Broker, why: RegExp): Promise<string> => {
    const requester = await startRequester(broker, {}, false);
    await waitUntil(() => why.test(requester.status().reason ?? ''), `it says ${String(why)}`);
    expect(requester.status().ready).toBe(false);
    return `${requester.status().reason ?? ''}\n${lines.join('\n')}`;
  };

  it('carries requests over TLS alone', () => expectAnswer(open(secure().tls, { tls: tls() })));

  it('carries requests for a client that shows a certificate of its authority', () =>
    expectAnswer(open(secure().mutualTls, { tls: { ...tls(), ...secure().client } })));

  it('refuses a client that shows no certificate, and the client names the settings that it lacks', async () => {
    const said = await refused(
      open(secure().mutualTls, { tls: tls() }),
      /asks its clients for a certificate: set MQ_SSL_CERT_FILE and MQ_SSL_KEY_FILE/,
    );
    expect(said).not.toContain('PRIVATE KEY');
  });

  it('refuses the certificate of another authority, and the client names the setting', async () => {
    const stranger = makeSelfSigned('client');
    const identity = { cert: stranger.cert, key: stranger.key };
    const said = await refused(
      open(secure().mutualTls, { tls: { ...tls(), ...identity } }),
      /does not accept the certificate of MQ_SSL_CERT_FILE/,
    );
    expect(said).not.toContain('PRIVATE KEY');
  });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
    'carries requests for an account that shows itself by %s, over TLS',
    (mechanism) => expectAnswer(open(secure().saslTls, { tls: tls(), sasl: { mechanism, ...ACCOUNT } })),
  );

  it('carries requests for an account without TLS', () =>
    expectAnswer(open(secure().sasl, { sasl: { mechanism: 'scram-sha-512', ...ACCOUNT } })));

  it('carries requests for the bearer of a token, which is fetched once for all connections', async () => {
    endpoint.answer(200, JSON.stringify({ access_token: unsignedToken(600), expires_in: 600 }));
    const before = endpoint.asked.length;
    const token = oauthTokens({ tokenUrl: endpoint.url, ...CLIENT, scope: 'kafka' });
    await expectAnswer(open(secure().saslTls, { tls: tls(), sasl: { mechanism: 'oauthbearer', token } }));
    expect(endpoint.asked.slice(before).map(({ body }) => body)).toEqual(['grant_type=client_credentials&scope=kafka']);
    expect(endpoint.asked[before]?.headers.authorization).toBe(`Basic ${btoa('gateway:whisper-77aa')}`);
  });

  it('carries requests for the bearer of a token that the platform keeps in a file', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'token-'));
    const file = join(directory, 'token');
    writeFileSync(file, `${unsignedToken(600)}\n`);
    const sasl = { mechanism: 'oauthbearer', token: fileTokens(file) } as const;
    await expectAnswer(open(secure().saslTls, { tls: tls(), sasl }));
    rmSync(directory, { recursive: true });
  });

  it('is shown the wrapped token of a Google service account, and may refuse it', async () => {
    endpoint.answer(200, JSON.stringify({ access_token: 'ya29.murmur-31d0', expires_in: 3_599 }));
    endpoint.answer(200, 'solver@project.iam.gserviceaccount.com', `${ACCOUNT_PATH}/email`);
    const sasl = { mechanism: 'oauthbearer', token: gcpTokens(new URL(endpoint.url).host) } as const;
    const before = endpoint.asked.length;
    // The embedded broker accepts only unsigned tokens.
    const said = await refused(open(secure().saslTls, { tls: tls(), sasl }), /authentication failed|SASL/i);
    expect(said).not.toContain(Buffer.from('ya29.murmur-31d0').toString('base64url'));
    expect(
      endpoint.asked
        .slice(before)
        .map(({ path }) => path.replace(/\?.*/, ''))
        .sort(),
    ).toEqual([`${ACCOUNT_PATH}/email`, `${ACCOUNT_PATH}/token`]);
  });

  it('comes back when the token endpoint does', async () => {
    endpoint.answer(401, '{"error":"invalid_client"}');
    const token = oauthTokens({ tokenUrl: endpoint.url, ...CLIENT });
    const broker = open(secure().sasl, { sasl: { mechanism: 'oauthbearer', token } });
    const requester = await startRequester(broker, {}, false);
    await waitUntil(() => (requester.status().reason ?? '').includes('answered 401'), 'it says why');
    endpoint.answer(200, JSON.stringify({ access_token: unsignedToken(600), expires_in: 600 }));
    await createTestTopics(broker);
    await waitUntil(() => requester.status().ready, 'it is ready');
    expect(lines.join('\n')).not.toContain(CLIENT.clientSecret);
  });

  it.each(['plain', 'scram-sha-256'] as const)(
    'refuses a wrong password by %s without showing it',
    async (mechanism) => {
      const password = 'guessed-5b1e';
      const broker = open(secure().saslTls, { tls: tls(), sasl: { mechanism, username: 'alice', password } });
      expect(await refused(broker, /authentication failed/i)).not.toContain(password);
    },
  );

  it('is not trusted when another authority signed for it', async () => {
    const { cert } = makeSelfSigned('localhost');
    await refused(
      open(secure().tls, { tls: { ca: cert, serverName: 'localhost' } }),
      /self-signed certificate|unable to verify|certificate signature failure/,
    );
  });

  it('is not trusted under another name', async () => {
    const { ca } = tls();
    await refused(open(secure().tls, { tls: { ca, serverName: 'elsewhere.example' } }), /elsewhere\.example/);
  });

  it('is shown an AWS token made of the credentials that the platform gives, and may refuse it', async () => {
    endpoint.answer(
      200,
      JSON.stringify({
        AccessKeyId: 'AKIDEXAMPLE',
        SecretAccessKey: 'murmur-31d0',
        Token: 'temporary',
        Expiration: '2099-01-01T00:00:00Z',
      }),
    );
    const before = endpoint.asked.length;
    const token = awsIamTokens('eu-central-1', { kind: 'container', url: endpoint.url });
    const shown = Buffer.from(await token(), 'base64url').toString();
    expect(shown).toMatch(/^https:\/\/kafka\.eu-central-1\.amazonaws\.com\/\?Action=kafka-cluster%3AConnect&/);
    expect(shown).toContain('X-Amz-Security-Token=temporary');
    const broker = open(secure().saslTls, { tls: tls(), sasl: { mechanism: 'aws-iam', token } });
    expect(await refused(broker, /authentication failed|SASL/i)).not.toMatch(/murmur-31d0|X-Amz-Signature/);
    expect(endpoint.asked.length - before).toBe(1);
  });
});
