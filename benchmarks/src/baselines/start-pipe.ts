import { startChild } from '../child';
import { TOPIC_PREFIX } from '../service-under-test';

/** The way to a worker and back without services: what a service lacks to its rate is what the service costs. */
export interface Pipe {
  readonly url: string;
  readonly gatewayPid: number;
  readonly workerPid: number;
  stop(): Promise<void>;
}

/** As services are started. */
const OPTIONS = ['--max-semi-space-size=32'];

export const startPipe = async (brokers: string): Promise<Pipe> => {
  const args = [brokers, `${TOPIC_PREFIX}pipe.`];
  const worker = await startChild('src/baselines/bare-pipe.ts', ['worker', ...args], OPTIONS);
  const gateway = await startChild('src/baselines/bare-pipe.ts', ['gateway', ...args], OPTIONS);
  return {
    ...{ url: gateway.firstLine, gatewayPid: gateway.pid, workerPid: worker.pid },
    stop: async () => void (await Promise.all([gateway.stop(), worker.stop()])),
  };
};
