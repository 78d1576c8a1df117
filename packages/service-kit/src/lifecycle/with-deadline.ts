/** Waits for `work`, but not past `deadlineMs`: then `late` makes the error. The work itself is not stopped by this. */
export const withDeadline = async <T>(work: Promise<T>, deadlineMs: number, late: () => Error): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), deadlineMs);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
};
