/** The client went away before it was answered. Nobody is there to be told, and it is nobody's fault: it is not logged. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection before it was answered.');
  }
}
