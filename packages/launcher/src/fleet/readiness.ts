import { request } from 'node:http';
import { LaunchError } from '../launch-error';

/** Status and body of one GET, or undefined where nobody answers within the time. */
export const probe = (url: string, timeoutMs = 1_000): Promise<{ status: number; body: string } | undefined> =>
  new Promise((resolve) => {
    const call = request(url, { timeout: timeoutMs, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
      answer.once('error', () => resolve(undefined));
    });
    call.once('timeout', () => call.destroy());
    call.once('error', () => resolve(undefined));
    call.end();
  });

const POLL_MS = 100;

/** Waits until `url` answers 200. Throws {@link LaunchError} with the last answer once the deadline has passed. */
export const waitUntilReady = async (name: string, url: string, deadlineMs: number): Promise<void> => {
  const until = Date.now() + deadlineMs;
  let last: Awaited<ReturnType<typeof probe>>;
  while (Date.now() < until) {
    last = await probe(url);
    if (last?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const seen = last === undefined ? 'it does not answer' : `it answers ${last.status} ${last.body.slice(0, 500)}`;
  throw new LaunchError(`${name} is not ready after ${Math.round(deadlineMs / 1000)} s: ${seen}. Its log says more.`);
};
