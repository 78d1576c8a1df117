import { join } from 'node:path';
import { type ServiceProcess, startServiceProcess } from '@decision/launcher';
import { freePort, waitUntil } from '@decision/local-stack';
import { type FleetUnderTest, repositoryRoot } from './fleet-under-test';

/** A gateway beside the fleet's: a member of the same group, with an address of its own. */
export interface FurtherGateway extends ServiceProcess {
  readonly lines: readonly string[];
}

/** Starts it, with the environment of the fleet's services and the given additions. */
export const startFurtherGateway = async (
  { fleet }: FleetUnderTest,
  environment: Readonly<Record<string, string>> = {},
): Promise<FurtherGateway> => {
  const lines: string[] = [];
  const gateway = startServiceProcess({
    name: 'hps-gateway',
    script: join(repositoryRoot, 'services/hps-gateway/dist/main.js'),
    port: await freePort(),
    environment: { ...fleet.environment, ...environment },
    onLine: (_service, line) => lines.push(line),
    onNotice: (sentence) => lines.push(sentence),
  });
  return { ...gateway, lines };
};

/** Status and body of `path`; undefined if nobody listens. */
export const get = async (
  url: string,
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> } | undefined> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  } catch {
    return undefined;
  }
};

export const becomesReady = ({ url }: ServiceProcess): Promise<void> =>
  waitUntil(async () => (await get(`${url}/ready`))?.status === 200, `${url} is ready`);
