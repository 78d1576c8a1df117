import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { awsIamTokens } from '../src/security/aws-iam-token';
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

describe('credentials of a container', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tokens-'));
  const authorizationFile = join(directory, 'authorization');
  afterAll(() => rmSync(directory, { recursive: true }));

  it('are asked for with the authorization of the file as it is then', async () => {
    writeFileSync(authorizationFile, 'first\n');
    endpoint.answer(200, '{"AccessKeyId":"A","SecretAccessKey":"S","Expiration":"2020-01-01T00:00:00Z"}');
    const token = awsIamTokens('eu-west-1', { kind: 'container', url: endpoint.url, authorizationFile });
    await token();
    writeFileSync(authorizationFile, 'second\n');
    await token(); // the credentials had ended, so they are asked for again
    expect(endpoint.asked.map(({ headers }) => headers.authorization)).toEqual(['first', 'second']);
  });

  it('cannot be had without the file', async () => {
    const source = { kind: 'container', url: endpoint.url, authorizationFile: join(directory, 'none') } as const;
    await expect(awsIamTokens('eu-west-1', source)()).rejects.toThrow(
      'the authorization token for the credentials endpoint cannot be read',
    );
  });
});
