/**
 * Awaits work whose statements were sent together, all of it, also where some fails: nothing runs on when the transaction is rolled back. Throws the
 * failure of the first in order, since statements behind one that failed fail because of it. None of the work may change the claims of the transaction
 * (`asWorkspace`): statements of the others would run under them.
 */
export const together = async <T extends readonly unknown[]>(
  ...work: { readonly [K in keyof T]: Promise<T[K]> }
): Promise<T> => {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return results.map((result) => (result.status === 'fulfilled' ? result.value : undefined)) as unknown as T; // in the order of the work
};
