/**
 * Awaits all work whose statements were sent together, even if some fails: nothing still runs when the transaction is rolled back. Throws
 * the failure of the first in order, since a failed statement makes later ones fail. None of the work may change the claims of the
 * transaction (`asWorkspace`): statements of the others would run under them.
 */
export const together = async <T extends readonly unknown[]>(
  ...work: { readonly [K in keyof T]: Promise<T[K]> }
): Promise<T> => {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return results.map((result) => (result.status === 'fulfilled' ? result.value : undefined)) as unknown as T; // in the order of the work
};
