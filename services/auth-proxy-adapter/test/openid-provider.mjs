// A real OpenID provider for tests, as a separate process. It signs everybody in as the last account set (`PUT /account`), without a
// prompt.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

let account = { sub: 'nobody', claims: {} };

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    response.statusCode = 500;
    response.end(String(error));
  });
});

const answer = async (request, response) => {
  if (request.method === 'PUT' && request.url === '/account') {
    let text = '';
    for await (const chunk of request) text += chunk;
    account = JSON.parse(text);
    response.end();
    return;
  }
  if (request.url.startsWith('/interaction/')) return interact(request, response);
  provider.callback()(request, response);
};

const interact = async (request, response) => {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (account.refuses) {
    await provider.interactionFinished(request, response, { error: 'access_denied' });
    return;
  }
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: account.sub, remember: false } });
    return;
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
};

server.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const issuer = `http://localhost:${server.address().port}`;
const provider = new Provider(issuer, {
  clients: [
    {
      ...{ client_id: 'decisions', client_secret: 'a secret & more: %', redirect_uris: [process.argv[2]] },
      ...{ grant_types: ['authorization_code'], response_types: ['code'] },
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  cookies: { keys: ['for tests'] },
  findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...account.claims }) }),
});
process.stdout.write(`${issuer}\n`);
process.stdin.resume().once('end', () => process.exit(0));
