import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { awsIamTokens } from '../src/security/aws-iam-token';
import { fileTokens } from '../src/security/file-token';
import { gcpTokens } from '../src/security/gcp-token';
import { oauthTokens } from '../src/security/oauth-token';
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint';

let endpoint: TokenEndpoint;
beforeEach(async () => {
  endpoint = await startTokenEndpoint();
});
afterEach(() => endpoint.stop());

const fetchToken = (): Promise<string> =>
  oauthTokens({ tokenUrl: endpoint.url, clientId: 'a b', clientSecret: 'secret:&?' })();

it('asks with credentials that are escaped, and takes a token that does not say how long it lives', async () => {
  endpoint.answer(200, '{"access_token":"abc"}');
  expect(await fetchToken()).toBe('abc');
  expect(endpoint.asked[0]?.headers.authorization).toBe(`Basic ${btoa('a%20b:secret%3A%26%3F')}`);
});

it.each([
  [403, '{"error":"secret:&?"}', 'answered 403'],
  [200, 'secret:&? <html>', 'the token endpoint did not answer a JSON object'],
  [200, 'null', 'the token endpoint did not answer a JSON object'],
  [200, '{"access_token":7}', 'the token endpoint answered no "access_token"'],
  [200, ' '.repeat(70_000), 'answered more than 65536 bytes'],
])('says of an answer %i %.20j what is wrong, and shows nothing of it', async (status, body, expected) => {
  endpoint.answer(status, body);
  const error = await fetchToken().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'TokenError', message: expect.stringContaining(expected) as unknown });
  expect(String(error)).not.toContain('secret');
});

it('says when nobody answers', async () => {
  const tokenUrl = 'http://127.0.0.1:1/token';
  await expect(oauthTokens({ tokenUrl, clientId: 'a', clientSecret: 'b' })()).rejects.toThrow(
    /^http:\/\/127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/,
  );
});

describe('tokens of a file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'token-file-'));
  const file = join(directory, 'token');
  afterAll(() => rmSync(directory, { recursive: true }));

  /** A JWT that expires after so many seconds. */
  const jwt = (name: string, seconds: number): string => {
    const claims = { sub: name, exp: Math.floor(Date.now() / 1_000) + seconds };
    return ['{"alg":"RS256"}', JSON.stringify(claims), 'signature']
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.');
  };

  let passed = 0;
  const pass = (ms: number): void => void (passed += ms);
  const now = (): number => Date.now() + passed;

  it('are kept until a minute before they end, and then read again', async () => {
    const [first, second] = [jwt('first', 600), jwt('second', 1_200)];
    writeFileSync(file, `${first}\n`);
    const token = fileTokens(file, now);
    expect(await token()).toBe(first);
    writeFileSync(file, second);
    pass(530_000);
    expect(await token()).toBe(first);
    pass(12_000);
    expect(await token()).toBe(second);
  });

  it.each(['opaque-token', 'a.b.c', `x.${Buffer.from('{"exp":"soon"}').toString('base64url')}.z`])(
    'are read again each minute if they do not say when they end: %s',
    async (value) => {
      writeFileSync(file, value);
      const token = fileTokens(file, now);
      expect(await token()).toBe(value);
      writeFileSync(file, 'another');
      pass(58_000);
      expect(await token()).toBe(value);
      pass(3_000);
      expect(await token()).toBe('another');
    },
  );

  it('are refused with an end before all times', async () => {
    writeFileSync(file, `x.${Buffer.from('{"exp":-1e30}').toString('base64url')}.z`);
    await expect(fileTokens(file)()).rejects.toThrow(/ended at 1970-01-01T00:00:00.000Z and has not been renewed/);
  });

  it('are refused once they have ended, until the file has a new one', async () => {
    writeFileSync(file, jwt('secret', -5));
    const token = fileTokens(file);
    const error = await token().catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      name: 'TokenError',
      message: expect.stringMatching(/ended at 20.* renewed$/) as unknown,
    });
    const fresh = jwt('fresh', 600);
    writeFileSync(file, fresh);
    expect(await token()).toBe(fresh);
  });

  it.each([
    ['is empty', '', 'holds no token'],
    ['has several words', 'two secrets', 'holds no token'],
    ['is too long', 'secret'.repeat(20_000), 'holds no token'],
  ])('say when the file %s, and show nothing of it', async (_what, content, expected) => {
    writeFileSync(file, content);
    const error = await fileTokens(file)().catch(String);
    expect(error).toBe(`TokenError: ${file} ${expected}`);
  });

  it('say why the file cannot be read', async () => {
    await expect(fileTokens(join(directory, 'none'))()).rejects.toThrow(/none cannot be read \(ENOENT\)/);
  });
});

describe('tokens of a Google service account', () => {
  const PATH = '/computeMetadata/v1/instance/service-accounts/default';
  const fetchWrapped = (): Promise<string> => gcpTokens(new URL(endpoint.url).host)();

  it('wrap the access token and name the account, as its managed Kafka reads them', async () => {
    endpoint.answer(200, '{"access_token":"ya29.c.secret","expires_in":3599,"token_type":"Bearer"}', `${PATH}/token`);
    endpoint.answer(200, 'solver@project.iam.gserviceaccount.com\n', `${PATH}/email`);
    const before = Math.floor(Date.now() / 1_000);
    const parts = (await fetchWrapped()).split('.').map((part) => Buffer.from(part, 'base64url').toString());
    expect(parts).toEqual(['{"typ":"JWT","alg":"GOOG_OAUTH2_TOKEN"}', expect.any(String) as unknown, 'ya29.c.secret']);
    const claims = JSON.parse(parts[1] ?? '') as { exp: number; iat: number };
    expect(claims).toEqual({
      iss: 'Google',
      scope: 'kafka',
      sub: 'solver@project.iam.gserviceaccount.com',
      exp: expect.any(Number) as unknown,
      iat: expect.any(Number) as unknown,
    });
    expect(claims.iat - before).toBeLessThan(10);
    expect([3_598, 3_599, 3_600]).toContain(claims.exp - claims.iat);
    expect(endpoint.asked.map(({ path, headers }) => [path, headers['metadata-flavor']]).sort()).toEqual([
      [`${PATH}/email`, 'Google'],
      [`${PATH}/token?scopes=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fcloud-platform`, 'Google'],
    ]);
  });

  it('are kept', async () => {
    endpoint.answer(200, '{"access_token":"ya29","expires_in":3599}');
    endpoint.answer(200, 'project.svc.id.goog', `${PATH}/email`);
    const token = gcpTokens(new URL(endpoint.url).host);
    expect(await token()).toBe(await token());
    expect(endpoint.asked).toHaveLength(2);
  });

  it.each([
    [404, 'secret', 'a@b', 'answered 404'],
    [200, 'secret', 'a@b', 'the metadata server did not answer a JSON object'],
    [200, '{"access_token":7}', 'a@b', 'the metadata server answered no "access_token"'],
    [200, '{"access_token":"x"}', '<html>the secret page</html>', 'the metadata server named no service account'],
  ])('say of an answer %i %s (%s) what is wrong, and show nothing of it', async (status, body, email, expected) => {
    endpoint.answer(status, body);
    endpoint.answer(200, email, `${PATH}/email`);
    const error = await fetchWrapped().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'TokenError', message: expect.stringContaining(expected) as unknown });
    expect(String(error)).not.toContain('secret');
  });

  it('say when there is no metadata server', async () => {
    await expect(gcpTokens('127.0.0.1:1')()).rejects.toThrow(
      /^http:\/\/127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/,
    );
  });
});

describe('AWS IAM tokens', () => {
  const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
  const read = (token: string): URL => new URL(Buffer.from(token, 'base64url').toString());

  it('sign a request to connect that lives for fifteen minutes and holds no secret', async () => {
    const accessKey = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: SECRET, sessionToken: 'a+b/c=' };
    const url = read(await awsIamTokens('eu-west-1', { kind: 'given', accessKey })());
    expect(url.host).toBe('kafka.eu-west-1.amazonaws.com');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      Action: 'kafka-cluster:Connect',
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': expect.stringMatching(
        /^AKIAIOSFODNN7EXAMPLE\/\d{8}\/eu-west-1\/kafka-cluster\/aws4_request$/,
      ) as unknown,
      'X-Amz-Expires': '900',
      'X-Amz-Security-Token': 'a+b/c=',
      'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      'X-Amz-SignedHeaders': 'host',
    });
    expect(url.href).not.toContain('wJalr');
  });

  it('are kept', async () => {
    const token = awsIamTokens('eu-west-1', { kind: 'given', accessKey: { accessKeyId: 'A', secretAccessKey: 'S' } });
    const first = await token();
    // A second token issued in the same second would be equal anyway.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await token()).toBe(first);
  });

  describe('with the credentials of a container', () => {
    const directory = mkdtempSync(join(tmpdir(), 'tokens-'));
    const authorizationFile = join(directory, 'authorization');
    afterAll(() => rmSync(directory, { recursive: true }));
    const answerCredentials = (expiration: string): void =>
      endpoint.answer(
        200,
        JSON.stringify({ AccessKeyId: 'A', SecretAccessKey: SECRET, Token: 'temporary', Expiration: expiration }),
      );

    it('ask with the authorization of the file as it is then, as soon as the credentials have ended', async () => {
      writeFileSync(authorizationFile, 'first\n');
      answerCredentials('2020-01-01T00:00:00Z');
      const token = awsIamTokens('eu-west-1', { kind: 'container', url: endpoint.url, authorizationFile });
      await token();
      writeFileSync(authorizationFile, 'second\n');
      await token();
      expect(endpoint.asked.map(({ headers }) => headers.authorization)).toEqual(['first', 'second']);
    });

    it('live for a whole number of seconds, whenever the credentials end', async () => {
      answerCredentials(new Date(Date.now() + 100_500).toISOString());
      const token = await awsIamTokens('eu-west-1', { kind: 'container', url: endpoint.url })();
      expect(read(token).searchParams.get('X-Amz-Expires')).toMatch(/^\d+$/);
    });

    it('cannot be had without the file', async () => {
      const source = { kind: 'container', url: endpoint.url, authorizationFile: join(directory, 'none') } as const;
      await expect(awsIamTokens('eu-west-1', source)()).rejects.toThrow(
        'the authorization token for the credentials endpoint cannot be read',
      );
    });

    it.each([
      [403, '{"error":"secret:&?"}'],
      [200, 'secret:&? <html>'],
      [200, '{"AccessKeyId":"secret"}'],
    ])('show nothing of the answer %i %s', async (status, body) => {
      endpoint.answer(status, body);
      const error = await awsIamTokens('eu-west-1', { kind: 'container', url: endpoint.url })().catch(String);
      expect(error).toMatch(/^TokenError: the credentials endpoint of the container gave no AWS credentials/);
      expect(error).not.toContain('secret');
    });
  });

  describe('with the credentials that AWS clients find by themselves', () => {
    const before = { ...process.env };
    afterEach(() => {
      process.env = { ...before };
    });

    it('take an access key of the environment', async () => {
      process.env['AWS_ACCESS_KEY_ID'] = 'AKIDENVIRONMENT';
      process.env['AWS_SECRET_ACCESS_KEY'] = SECRET;
      const url = read(await awsIamTokens('eu-west-1', { kind: 'standard' })());
      expect(url.searchParams.get('X-Amz-Credential')).toMatch(/^AKIDENVIRONMENT\//);
    });

    it('exchange the web identity of a pod for those of its role', async () => {
      const directory = mkdtempSync(join(tmpdir(), 'identity-'));
      writeFileSync(join(directory, 'token'), 'the identity');
      Object.assign(process.env, {
        AWS_WEB_IDENTITY_TOKEN_FILE: join(directory, 'token'),
        AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/solver',
        AWS_ENDPOINT_URL_STS: endpoint.url,
      });
      endpoint.answer(200, assumedRole);
      const url = read(await awsIamTokens('eu-west-1', { kind: 'standard' })());
      rmSync(directory, { recursive: true });
      expect(url.searchParams.get('X-Amz-Credential')).toMatch(/^AKIDROLE\//);
      const asked = new URLSearchParams(endpoint.asked[0]?.body);
      expect(asked.get('WebIdentityToken')).toBe('the identity');
    });

    it('say where they looked when there are none', async () => {
      Object.assign(process.env, { AWS_EC2_METADATA_DISABLED: 'true', AWS_PROFILE: 'none-such', HOME: '/nonexistent' });
      await expect(awsIamTokens('eu-west-1', { kind: 'standard' })()).rejects.toMatchObject({
        name: 'TokenError',
        message: expect.stringContaining('neither environment, files, web identity, container nor instance') as unknown,
      });
    });
  });
});

const assumedRole = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult><Credentials>
    <AccessKeyId>AKIDROLE</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>temporary</SessionToken>
    <Expiration>2099-01-01T00:00:00Z</Expiration>
  </Credentials></AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>`;
