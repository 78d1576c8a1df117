/** A service will not start, for a reason that an operator can act on. The message is one clear sentence, printed without a stack. */
export class StartRefusal extends Error {
  override readonly name = 'StartRefusal';
}
