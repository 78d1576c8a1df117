import { Agent, request as httpRequest } from 'node:http';
import { type RuleImport } from '@decision/contracts';

/** Seeded random numbers from 0 to 1. */
export type Random = () => number;

export const randomFrom = (seed: number): Random => {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ 0xc2b2ae35) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 0x100000000;
  };
};

const NONCE_SLUG = 'nonces';
export const VERSIONS = 3;

/** A rule that returns its input and its version. A row fails on demand. */
export const nonceRule = (version: number): RuleImport => ({
  name: 'Nonces',
  slug: NONCE_SLUG,
  requestSchema: [
    { key: 'nonce', type: 'string' },
    { key: 'padding', type: 'string' },
    { key: 'fails', type: 'boolean' },
  ],
  responseSchema: [
    { key: 'nonce', type: 'function' },
    { key: 'version', type: 'number' },
  ],
  conditions: [
    {
      request: { fails: { op: 'is true', args: [] } },
      response: { nonce: { value: 'date(nonce)' }, version: { value: version } },
    },
    { response: { nonce: { value: 'nonce' }, version: { value: version } } },
  ],
});

/** A request, and its only correct answer. */
interface NonceRequest {
  readonly nonce: string;
  readonly path: string;
  readonly body: string;
  /** Status, and the exact body of a result or the code of an error. */
  readonly expected: { readonly status: number; readonly body?: string; readonly code?: string };
}

const PADDING = 'x'.repeat(1_000_000);

/** Most are small, some a few kilobytes, one in five hundred up to a megabyte. */
const paddingOf = (random: Random): string => {
  const kind = random();
  const most = kind < 0.002 ? 1_000_000 : kind < 0.1 ? 20_000 : 200;
  return PADDING.slice(0, Math.floor(random() * most));
};

export const makeRequest = (number: number, random: Random): NonceRequest => {
  const nonce = `nonce ${number} ${Math.floor(random() * 1e9)}`;
  const selector = 1 + Math.floor(random() * (VERSIONS + 1));
  const version = selector > VERSIONS ? VERSIONS : selector; // one more means the latest
  const path = `/api/v1/solve/${NONCE_SLUG}/${selector > VERSIONS ? 'latest' : selector}`;
  const item = (name: string) => ({ nonce: name, padding: paddingOf(random) });
  const kind = random();
  if (kind < 0.05) {
    const error = { status: 422, code: 'evaluation_failed' };
    return { nonce, path, body: JSON.stringify({ ...item(nonce), fails: true }), expected: error };
  }
  if (kind < 0.08) return { nonce, path, body: `{"nonce": ${nonce}`, expected: { status: 400, code: 'invalid_json' } };
  if (kind < 0.11) {
    const error = { status: 404, code: 'version_not_found' };
    return {
      nonce,
      path: `/api/v1/solve/${NONCE_SLUG}/99`,
      body: JSON.stringify(item(nonce)),
      expected: error,
    };
  }
  if (kind < 0.2) {
    const names = Array.from({ length: 1 + Math.floor(random() * 40) }, (_, index) => `${nonce} ${index}`);
    const results = names.map((name) => ({ nonce: name, version }));
    return {
      nonce,
      path,
      body: JSON.stringify(names.map(item)),
      expected: { status: 200, body: JSON.stringify(results) },
    };
  }
  const body = JSON.stringify({ nonce, version });
  return { nonce, path, body: JSON.stringify(item(nonce)), expected: { status: 200, body } };
};

/** An answer, or the reason why there was none. */
export type Outcome =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  /** The connection broke before the answer was complete. */
  | { readonly kind: 'broken'; readonly reason: string };

/** Persistent connections to one address. */
export class Connections {
  private readonly agent: Agent;

  constructor(
    private readonly url: string,
    private readonly apiKey: string,
    sockets: number,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets: sockets });
  }

  send({ path, body }: NonceRequest, deadlineMs: number): Promise<Outcome> {
    return new Promise((resolve) => {
      const broken = (error: Error): void => resolve({ kind: 'broken', reason: error.message });
      const request = httpRequest(`${this.url}${path}`, {
        method: 'POST',
        agent: this.agent,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'x-api-key': this.apiKey,
        },
      });
      request.setTimeout(deadlineMs, () => request.destroy(new Error('no answer within the deadline')));
      request.once('error', broken);
      request.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', broken);
        response.once('end', () =>
          resolve({ kind: 'answer', status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
      });
      request.end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
