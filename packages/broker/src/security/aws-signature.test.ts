import { presign } from './aws-signature';
import { awsIamToken } from './aws-iam-token';

const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

it('signs the example of the specification as it is printed there', () => {
  const url = presign(
    {
      host: 'examplebucket.s3.amazonaws.com',
      path: '/test.txt',
      query: {},
      region: 'us-east-1',
      service: 's3',
      payloadHash: 'UNSIGNED-PAYLOAD',
      lifeSeconds: 86_400,
      now: Date.UTC(2013, 4, 24),
    },
    credentials,
  );
  expect(url).toContain('X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request');
  expect(url).toMatch(/&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404$/);
});

it('makes a token that lives for fifteen minutes and holds no secret', () => {
  const now = Date.UTC(2026, 10, 21, 9);
  const { value, expiresAt } = awsIamToken('eu-west-1', { ...credentials, sessionToken: 'a+b/c=' }, now);
  const url = new URL(Buffer.from(value, 'base64url').toString());
  expect(expiresAt - now).toBe(900_000);
  expect(url.host).toBe('kafka.eu-west-1.amazonaws.com');
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    Action: 'kafka-cluster:Connect',
    'X-Amz-Date': '20261121T090000Z',
    'X-Amz-Expires': '900',
    'X-Amz-Security-Token': 'a+b/c=',
    'User-Agent': 'decision-service',
  });
  expect(url.href).not.toContain('wJalr');
});
