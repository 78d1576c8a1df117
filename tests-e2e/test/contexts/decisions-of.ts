import { type ServiceProcess } from '@decision/launcher';

const ANSWER_MS = 20_000;

/** Number of decisions that a worker has made since its start. */
export const decisionsOf = (service: ServiceProcess): Promise<number> => sumOf(service, 'decision_logs_total');

/** Number of requests that a service has sent to workers since its start and the broker has stored. */
export const requestsSentBy = (service: ServiceProcess): Promise<number> =>
  sumOf(service, 'decision_requester_produced_messages_total');

const sumOf = async ({ url }: ServiceProcess, metric: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(ANSWER_MS) })).text();
  const values = [...text.matchAll(new RegExp(`^${metric}(?:\\{.*\\})? (\\d+)$`, 'gm'))];
  return values.reduce((sum, [, count]) => sum + Number(count), 0);
};
