const POLL_MS = 10;
const LIMIT_MS = 100_000;

/**
 * Waits until a condition holds, asking every 10 ms. A condition that throws ends the wait.
 *
 * @param what completes "Waited in vain until ..."; a function is called once the wait was in vain.
 * @param limitMs only a defect takes the 100 s of the default, on a busy machine too.
 * @throws an error whose stack begins with the call, so that the failure of a test shows its line.
 */
export const waitUntil = async (
  condition: () => boolean | Promise<boolean>,
  what: string | (() => string) = 'a condition holds',
  limitMs = LIMIT_MS,
): Promise<void> => {
  const late = new Error();
  Error.captureStackTrace(late, waitUntil);
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > end) {
      const calls = String(late.stack).split('\n').slice(1);
      late.message = `Waited ${limitMs / 1_000} s in vain until ${typeof what === 'string' ? what : what()}.`;
      late.stack = [`Error: ${late.message}`, ...calls].join('\n');
      throw late;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};
