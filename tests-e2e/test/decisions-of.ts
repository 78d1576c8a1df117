import { type ServiceProcess } from '@decision/launcher';

const ANSWER_MS = 20_000;

/** Decisions that a worker has made since it was started. */
export const decisionsOf = (service: ServiceProcess): Promise<number> => sumOf(service, 'decision_logs_total');

/** Requests that a service has sent to workers since it was started, and that the broker holds. */
export const requestsSentBy = (service: ServiceProcess): Promise<number> =>
  sumOf(service, 'decision_requester_produced_messages_total');

const sumOf = async ({ url }: ServiceProcess, metric: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(ANSWER_MS) })).text();
  const values = [...text.matchAll(new RegExp(`^${metric}(?:\\{.*\\})? (\\d+)$`, 'gm'))];
  return values.reduce((sum, [, count]) => sum + Number(count), 0);
};
