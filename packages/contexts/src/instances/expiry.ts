/** When an instance written now expires, epoch ms; null where its context has no lifetime (C105). */
export const expiryAfterWrite = (ttlSeconds: number | null, now: number): number | null =>
  ttlSeconds === null ? null : now + ttlSeconds * 1_000;

/** Whether an instance is gone (C106): from the moment `expiresAt` on. */
export const isExpired = (expiresAt: number | null, now: number): boolean => expiresAt !== null && expiresAt <= now;
