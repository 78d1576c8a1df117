import { randomBytes } from 'node:crypto';
import { Agent, createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { fixedLimits } from '@decision/contracts';
import { hopFree } from '../fleet/hop-headers';
import { signToken } from './launch-people';

interface SigningProxyOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Address of the ingress. */
  readonly target: string;
  /** The identity of everybody until they choose one. */
  readonly email: string;
}

export interface SigningProxy {
  readonly url: string;
  stop(): Promise<void>;
}

const COOKIE = 'signing_proxy_person';
const EMAIL = /^[^\s@;,"\\]{1,100}@[^\s@;,"\\]{1,100}$/;
const TOKEN_SECONDS = 300;

/**
 * A stand-in for a company's authenticating proxy, to try token passthrough on one machine. It listens on loopback, accepts any chosen
 * identity (`/as/<email>`), and attaches a token signed with its own secret to every request without an API key.
 */
export const startSigningProxy = async ({ port, target, email }: SigningProxyOptions): Promise<SigningProxy> => {
  const agent = new Agent({ keepAlive: true });
  const secret = randomBytes(32).toString('base64url');
  const server = createServer({ maxHeaderSize: fixedLimits.headerBytes }, (incoming, outgoing) => {
    const chosen = /^\/as\/([^/?#]+)$/.exec(incoming.url ?? '')?.[1];
    if (chosen !== undefined) choose(outgoing, chosen);
    else forward(incoming, outgoing, { agent, target, token: tokenOf(personOf(incoming) ?? email, secret) });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // a listening TCP server has an AddressInfo
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
};

const choose = (outgoing: ServerResponse, encoded: string): void => {
  const email = decode(encoded);
  if (email === undefined || !EMAIL.test(email)) {
    outgoing.writeHead(400, { 'content-type': 'text/plain' }).end('Choose an e-mail address: /as/ada@example.com\n');
    return;
  }
  const cookie = `${COOKIE}=${encodeURIComponent(email)}; Path=/; HttpOnly; SameSite=Lax`;
  outgoing.writeHead(303, { location: '/dashboard', 'set-cookie': cookie }).end();
};

const personOf = ({ headers: { cookie = '' } }: IncomingMessage): string | undefined => {
  const [, value] = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]*)`).exec(cookie) ?? [];
  const email = value === undefined ? undefined : decode(value);
  return email !== undefined && EMAIL.test(email) ? email : undefined;
};

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

const tokenOf = (email: string, secret: string): string => {
  const now = Math.floor(Date.now() / 1_000);
  const name = email.split('@', 1)[0];
  return signToken({ sub: `proxy|${email}`, email, name, iat: now, exp: now + TOKEN_SECONDS }, secret);
};

const forward = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { agent, target, token }: { readonly agent: Agent; readonly target: string; readonly token: string },
): void => {
  const { hostname, port } = new URL(target);
  const headers = withoutHeader(hopFree(incoming.rawHeaders), 'authorization');
  if (incoming.headers['x-api-key'] === undefined) headers.push('authorization', `Bearer ${token}`);
  if (incoming.headers['transfer-encoding'] !== undefined) headers.push('transfer-encoding', 'chunked');
  const upstream = httpRequest({ hostname, port, agent, method: incoming.method, path: incoming.url, headers });
  upstream.once('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, hopFree(answer.rawHeaders));
    answer.pipe(outgoing);
    answer.once('error', () => outgoing.destroy());
  });
  upstream.on('error', () => {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(503, { 'content-type': 'text/plain' }).end('The ingress does not answer.\n');
  });
  outgoing.once('close', () => upstream.destroy());
  incoming.pipe(upstream);
};

const withoutHeader = (raw: readonly string[], name: string): string[] =>
  raw.filter((_, index) => raw[index - (index % 2)]?.toLowerCase() !== name);
