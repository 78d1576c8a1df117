import { checkDatabaseUrl } from './database-url';

describe('checkDatabaseUrl', () => {
  it.each(['postgres://u:p@host:5432/name', 'postgresql://host/name?sslmode=require'])('accepts %s', (url) => {
    expect(checkDatabaseUrl(url)).toBe(url);
  });

  it.each(['sslrootcert', 'sslcert', 'sslkey'])(
    'refuses a %s that cannot be read, by the name of the file alone',
    (name) => {
      expect(() =>
        checkDatabaseUrl(`postgresql://u:hunter2@host/name?sslmode=verify-full&${name}=/no/such.pem`),
      ).toThrow(`The database URL names /no/such.pem as ${name}, which cannot be read (ENOENT).`);
    },
  );

  it.each(['', 'host:5432/name', 'mysql://u:hunter2@host/name', 'postgres//u:hunter2@host', 'http://hunter2@host'])(
    'refuses "%s" without repeating it',
    (url) => {
      expect(() => checkDatabaseUrl(url)).toThrow(
        expect.objectContaining({ code: 'internal_error', message: expect.not.stringContaining('hunter2') }),
      );
    },
  );
});
