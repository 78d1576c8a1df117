import { createHmac } from 'node:crypto';
import { readConfig } from '@decision/service-kit';
import { isPassthroughForBrowsers, missingVariables, settings } from './config';

const SECRET = 's'.repeat(32);
const signed = (secret: string): string => {
  const text = [{ alg: 'HS256' }, { role: 'anon' }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};
const read = (environment: Record<string, string>) =>
  readConfig(settings, { DATABASE_URL: 'postgres://a@b/c', JWT_SECRET: SECRET, ...environment });

it.each(['BACKEND_ANON_KEY', 'BACKEND_SERVICE_KEY'])(
  '%s is refused as a JWT that JWT_SECRET has not signed',
  (name) => {
    expect(() => read({ [name]: signed('another secret of theirs') })).toThrow(
      /is a JWT that JWT_SECRET has not signed/,
    );
    expect(() => read({ [name]: signed(SECRET) })).not.toThrow();
    expect(() => read({ [name]: 'an opaque key' })).not.toThrow();
    expect(() => read({ [name]: signed('old'.repeat(11)), JWT_SECRET_PREVIOUS: 'old'.repeat(11) })).not.toThrow();
  },
);

it('only the text true requires the variables of passthrough', () => {
  expect(missingVariables(read({ EXTERNAL_AUTH_TOKEN_PASSTHROUGH: 'true' }))).toEqual([
    ...['ADMIN_EMAIL', 'BACKEND_URL', 'BACKEND_ANON_KEY', 'BACKEND_SERVICE_KEY'],
  ]);
  for (const value of ['True', '1', 'yes', 'false', ''])
    expect(missingVariables(read({ EXTERNAL_AUTH_TOKEN_PASSTHROUGH: value }))).toEqual([]);
});

describe('PUBLIC_EXTERNAL_AUTH_TOKEN_PASSTHROUGH', () => {
  const told = (flag: string | undefined, server: string | undefined): boolean =>
    isPassthroughForBrowsers(
      read({
        ...(flag === undefined ? {} : { PUBLIC_EXTERNAL_AUTH_TOKEN_PASSTHROUGH: flag }),
        ...(server === undefined ? {} : { EXTERNAL_AUTH_TOKEN_PASSTHROUGH: server }),
      }),
    );

  it('follows the server if it is not set or says the same', () => {
    expect([told(undefined, 'true'), told('', 'true'), told('true', 'true')]).toEqual([true, true, true]);
    expect([told(undefined, undefined), told('false', undefined), told('yes', '1')]).toEqual([false, false, false]);
  });

  it.each([
    ['true', undefined],
    ['true', 'TRUE'],
    ['false', 'true'],
    ['TRUE', 'true'],
  ])('%j is refused at the start with %j of the server', (flag, server) => {
    expect(() => told(flag, server)).toThrow(/PUBLIC_EXTERNAL_AUTH_TOKEN_PASSTHROUGH.*contradicts/);
  });
});
