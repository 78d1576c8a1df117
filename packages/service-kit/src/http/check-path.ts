import { ServiceError } from '@decision/contracts';

/**
 * Refuses an address whose path cannot be decoded, or holds a NUL, which no store accepts as text. Throws `invalid_url`. `url` is the address as it
 * arrived; its query is left to its readers.
 */
export const checkPath = (url: string): void => {
  const queryAt = url.indexOf('?');
  const path = queryAt < 0 ? url : url.slice(0, queryAt);
  if (!path.includes('%')) return;
  const decoded = decode(path);
  if (decoded === undefined) {
    throw new ServiceError('invalid_url', 'The path holds a percent sign that does not begin a valid escape.');
  }
  if (decoded.includes('\0')) throw new ServiceError('invalid_url', 'The path holds a NUL character.');
};

const decode = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
};
