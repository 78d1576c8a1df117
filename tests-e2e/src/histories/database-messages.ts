/** Cuts one direction of a conversation with the database into its messages: a letter, a length of four bytes that counts itself, and what is said. */
export class MessageReader {
  private rest: Buffer = Buffer.alloc(0);
  /** The first message of a client has no letter. */
  private isGreeting: boolean;

  constructor({ greets }: { readonly greets: boolean }) {
    this.isGreeting = greets;
  }

  /** The messages that are whole by now, as they came. */
  read(data: Buffer): readonly Buffer[] {
    this.rest = Buffer.concat([this.rest, data]);
    const messages: Buffer[] = [];
    for (;;) {
      const start = this.isGreeting ? 0 : 1;
      if (this.rest.length < start + 4) return messages;
      const end = start + this.rest.readUInt32BE(start);
      if (this.rest.length < end) return messages;
      messages.push(this.rest.subarray(0, end));
      this.rest = this.rest.subarray(end);
      this.isGreeting = false;
    }
  }
}

const HEAD = 5;

/** The statement that a client's message brings: at once (`Q`), or to be bound to values (`P`, after the name that it is kept under). */
export const textOf = (message: Buffer): string | undefined => {
  const letter = String.fromCharCode(message[0] ?? 0);
  if (letter === 'Q') return message.toString('utf8', HEAD, message.length - 1);
  if (letter !== 'P') return undefined;
  const start = message.indexOf(0, HEAD) + 1;
  return message.toString('utf8', start, message.indexOf(0, start));
};
