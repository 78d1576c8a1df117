import { setTimeout as sleep } from 'node:timers/promises';
import { listRules } from '@decision/contracts';
import { bindOperation, createServiceServer, httpSettings, runService, StartRefusal, type Stopper } from '../src/index';

/** A whole service, run as a separate process by `run-service.test.ts`. It prints lines that the test waits for. */
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const identity = {
  actor: 'k',
  workspaceId: 'w',
  role: 'r',
  entitlements: new Set(['rules.read']),
  userGroups: undefined,
};

/** Rejects once it is stopped, like a connection that is closed while somebody waits for it. */
const untilStopped = (stopper: Stopper): Promise<never> =>
  new Promise((_resolve, reject) => {
    const open = setInterval(() => undefined, 1_000);
    stopper.add('start', () => {
      clearInterval(open);
      reject(new TypeError('It was closed.'));
    });
    say('STARTING');
  });

runService({
  name: 'objects-api',
  settings: httpSettings(0),
  start: async ({ config, logger, metrics, stopper }) => {
    if (process.env['NEVER_STARTS']) await untilStopped(stopper);
    if (process.env['REFUSE']) throw new StartRefusal('It is a bad day.');
    const workMs = Number(process.env['WORK_MS'] ?? NaN);
    const server = createServiceServer({
      ...config,
      name: 'objects-api',
      version: '1',
      logger,
      metrics,
      health: () => ({}),
      ready: () => ({ ready: true }),
      authenticator: { authenticate: () => Promise.resolve(identity) },
      operations: [
        bindOperation(listRules, async () => {
          say('WORKING');
          await sleep(Number.isNaN(workMs) ? Math.random() * 30 : workMs);
          return Array<never>();
        }),
      ],
    });
    stopper.add('http', (drainMs) => server.stop(drainMs));
    if (process.env['HANG']) stopper.add('something that hangs', () => new Promise(() => undefined));
    if (process.env['THROW']) setImmediate(() => void Promise.reject(new TypeError('Nobody catches this.')));
    say(`URL ${(await server.listen()).url}`);
  },
});
