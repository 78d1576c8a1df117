import { isExempt } from './paths';

describe('step 7: exempt paths', () => {
  it.each([
    '/api/health',
    '/api/metrics',
    '/auth/denied',
    '/api/self-hosted-branding',
    '/public',
    '/public/a/b',
    '/open/x',
  ])('%s passes', (path) => {
    expect(isExempt(path, ['/public', '/open/'])).toBe(true);
  });

  it.each([
    '/api/healthz',
    '/api/health/',
    '/api/health/x',
    '/API/health',
    '/publication',
    '/Public',
    '/public/../api/v1/admin/keys',
    '/public/..',
    '/public/./a',
    '/public//api',
    '//public',
    '/public/%2e%2e/api',
    '/public/%2E./api',
    '/public%2fapi',
    '/public/%252e%252e/api',
    '/public\\..\\api',
    '/public/..;/api',
    '/public/%00',
    'public',
    'http://example.com/public',
    '',
    '/',
  ])('%s does not', (path) => {
    expect(isExempt(path, ['/public', '/open/'])).toBe(false);
  });

  it('an empty prefix exempts nothing', () => {
    expect(isExempt('/api/v1/x', ['/', ''])).toBe(false);
  });
});
