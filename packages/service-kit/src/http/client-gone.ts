/** The client went away before it was answered. There is nobody to answer and nothing to mend: it is not logged. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection before it was answered.');
  }
}
