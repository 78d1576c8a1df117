import { ServiceError } from '@decision/contracts';

/** Waits for work, but not longer than `ms`; then throws `ServiceError` broker_unavailable with the sentence given. */
export const withDeadline = async <T>(ms: number, sentence: string, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ServiceError('broker_unavailable', sentence));
    }, ms);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
};

/** Waits for work to end, well or badly, but not longer than `ms`. Never throws. */
export const settledWithin = async (ms: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work.then(ignore, ignore), enough]);
  clearTimeout(timer);
};

const ignore = (): void => undefined;
