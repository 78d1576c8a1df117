import { call, passthroughEnvironment, startBareAdapter } from './adapter-under-test';

let adapter: Awaited<ReturnType<typeof startBareAdapter>>;

afterEach(() => adapter.stop());

describe('missing variables', () => {
  const { JWT_SECRET: _secret, ADMIN_EMAIL: _email, ...incomplete } = passthroughEnvironment;

  it.each(['/dashboard', '/auth/denied', '/api/self-hosted-branding', '/auth/check', '/nowhere', '/metrics'])(
    'are named in a 500 at %s',
    async (path) => {
      adapter = await startBareAdapter({ ...incomplete, ADMIN_EMAIL: '' });
      const answer = await call(`${adapter.url}${path}`, { headers: { 'x-api-key': 'anything' } });
      expect(answer.status).toBe(500);
      expect(await answer.json()).toMatchObject({
        error: 'Token passthrough is enabled but required env vars are missing: JWT_SECRET, ADMIN_EMAIL',
        missing: ['JWT_SECRET', 'ADMIN_EMAIL'],
      });
    },
  );

  it('leave the probes of the process as they are', async () => {
    adapter = await startBareAdapter(incomplete);
    for (const path of ['/health', '/ready']) expect((await call(`${adapter.url}${path}`)).status).toBe(200);
  });

  it.each(['false', 'TRUE', 'yes', '1', ' true', ''])('are not required if the switch is %j', async (value) => {
    adapter = await startBareAdapter({ EXTERNAL_AUTH_TOKEN_PASSTHROUGH: value });
    expect((await call(`${adapter.url}/api/self-hosted-branding`)).status).toBe(200);
  });
});

it.each(['/auth/signin', '/auth/signup', '/auth/forgotpass', '/auth/changepass'])(
  'step 9: %s leads to /dashboard in passthrough mode',
  async (path) => {
    adapter = await startBareAdapter(passthroughEnvironment);
    for (const method of ['GET', 'POST']) {
      const answer = await call(`${adapter.url}${path}`, { method });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/dashboard']);
    }
  },
);

it('branding follows the settings', async () => {
  adapter = await startBareAdapter({
    BRANDING_NAME: 'Tariffs & more',
    BRANDING_LINKS: 'Help=https://help.example.com/?a=b, Status=https://status.example.com',
  });
  expect(await (await call(`${adapter.url}/api/self-hosted-branding`)).json()).toEqual({
    name: 'Tariffs & more',
    logo_url: null,
    colors: { primary: '#1f4b99', accent: '#0f766e' },
    links: [
      { label: 'Help', url: 'https://help.example.com/?a=b' },
      { label: 'Status', url: 'https://status.example.com' },
    ],
    external_auth_token_passthrough: false,
  });
});

it('pages escape values, and allow no inline scripts', async () => {
  adapter = await startBareAdapter({ BRANDING_NAME: 'Tariffs & "more"' });
  const answer = await call(`${adapter.url}/auth/denied`);
  expect(await answer.text()).toContain('Tariffs &amp; &quot;more&quot;');
  expect(answer.headers.get('content-security-policy')).not.toContain('unsafe');
  expect((await call(`${adapter.url}/auth/denied`, { method: 'POST' })).status).toBe(405);
});
