/** Error that a caller receives for a failure of the database. */
export const unavailable = (message: RegExp): object => ({
  name: 'ServiceError',
  code: 'database_unavailable',
  message: expect.stringMatching(message),
});
