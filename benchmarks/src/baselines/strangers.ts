import { randomBytes } from 'node:crypto';
import { measureOpenLoop } from '../open-loop';
import { tokenOf } from '../person-token';

/** Sends tokens of unknown people, at a rate per second for a number of seconds: `strangers.ts URL PER_SECOND SECONDS`. Reports the answers. */
const [url = '', perSecond, seconds] = process.argv.slice(2);

process.stdout.write('flooding\n');
process.once('SIGTERM', () => process.exit(0));
void measureOpenLoop({
  ...{ url, body: '', connections: 400, perSecond: Number(perSecond), seconds: Number(seconds) },
  headers: () => ({ authorization: `Bearer ${tokenOf(`${randomBytes(8).toString('hex')}@example.com`)}` }),
}).then(({ admitted, refused, unsent }) => {
  process.stderr.write(
    `a flood of ${perSecond ?? ''} strangers a second: ${admitted.perSecond.toFixed(0)}/s let in, ${refused.toFixed(0)}/s refused, ${unsent.toFixed(0)}/s not sent, ${admitted.errors} others\n`,
  );
  process.exit(0);
});
