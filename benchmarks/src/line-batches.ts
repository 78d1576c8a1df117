import { execFileSync } from 'node:child_process';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { BenchmarkError } from './benchmark-error';
import { type ServiceUnderTest } from './service-under-test';

const NDJSON = 'application/x-ndjson';
const SAMPLE_MS = 250;

/** Megabytes of memory that contexts-api currently uses. */
export const memoryOf = ({ fleet }: ServiceUnderTest): number => {
  const pid = String(fleet.services.get('contexts-api')?.pid());
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', pid], { encoding: 'utf8' })) / 1_024;
};

/** Does some work and answers its duration, ms, and the peak memory of contexts-api meanwhile, MB. */
export const withMemory = async (
  service: ServiceUnderTest,
  work: () => Promise<unknown>,
): Promise<{ readonly ms: number; readonly peak: number }> => {
  let peak = memoryOf(service);
  const sampling = setInterval(() => (peak = Math.max(peak, memoryOf(service))), SAMPLE_MS);
  const began = performance.now();
  try {
    await work();
  } finally {
    clearInterval(sampling);
  }
  return { ms: performance.now() - began, peak: Math.max(peak, memoryOf(service)) };
};

function* linesOf(count: number, record: (index: number) => object): Generator<string> {
  const some: string[] = [];
  for (let index = 0; index < count; index += 1) {
    some.push(JSON.stringify(record(index)));
    if (some.length === 500 || index === count - 1) yield `${some.splice(0).join('\n')}\n`;
  }
}

/** Sends a batch of the given number of lines, generated while sending; the answer is read as lines and discarded. */
export const sendLines = (
  { fleet, apiKey }: ServiceUnderTest,
  slug: string,
  count: number,
  record: (index: number) => object,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const url = `${fleet.services.get('contexts-api')?.url ?? ''}/api/v1/contexts/batch/${slug}?include=is_new`;
    const headers = { 'x-api-key': apiKey, 'content-type': NDJSON, accept: NDJSON };
    const sent = request(url, { method: 'POST', headers }, (answer) => {
      let end = '';
      answer.setEncoding('utf8');
      answer.on('data', (text: string) => (end = (end + text).slice(-2_000)));
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode === 200 && !end.includes('"error"')) resolve();
        else reject(new BenchmarkError(`A batch of lines was answered ${answer.statusCode ?? 0}: ${end.slice(-500)}`));
      });
    });
    sent.on('error', reject);
    Readable.from(linesOf(count, record)).pipe(sent);
  });
