/** What a failure of the database looks like to a caller. */
export const unavailable = (message: RegExp): object => ({
  name: 'ServiceError',
  code: 'database_unavailable',
  message: expect.stringMatching(message),
});
