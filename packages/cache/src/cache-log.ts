/** Log of the cache's changes of state. Keys, values and addresses with secrets never reach it. */
export interface CacheLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
