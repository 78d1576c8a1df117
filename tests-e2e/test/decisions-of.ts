import { type ServiceProcess } from '@decision/launcher';

const ANSWER_MS = 20_000;

/** Decisions that a worker has made since it was started. */
export const decisionsOf = async ({ url }: ServiceProcess): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(ANSWER_MS) })).text();
  return [...text.matchAll(/^decision_logs_total\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
};
