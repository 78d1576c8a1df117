/** A token or the credentials for one could not be had. The sentence fragment holds no secret. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
}
