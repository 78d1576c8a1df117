/** Splits one direction of a connection with the database into its messages: a letter, a length of four bytes that includes itself, and the body. */
export class MessageReader {
  private rest: Buffer = Buffer.alloc(0);
  /** The first message of a client has no letter. */
  private isGreeting: boolean;

  constructor({ greets }: { readonly greets: boolean }) {
    this.isGreeting = greets;
  }

  /** The messages that are complete so far, in order. */
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

/** Finds the statement that a client's message executes, across the messages of one connection. */
export class StatementReader {
  /** Prepared statements of the connection, by their names. */
  private readonly prepared = new Map<string, string>();

  /** The statement of a message that contains one for immediate execution (`Q`), or without a name (`P`), or binds values to a prepared one (`B`). */
  textOf(message: Buffer): string | undefined {
    const letter = String.fromCharCode(message[0] ?? 0);
    if (letter === 'Q') return message.toString('utf8', HEAD, message.length - 1);
    if (letter === 'B') return this.prepared.get(textAt(message, afterText(message, HEAD)));
    if (letter !== 'P') return undefined;
    const name = textAt(message, HEAD);
    const text = textAt(message, afterText(message, HEAD));
    if (name === '') return text;
    this.prepared.set(name, text);
    return undefined; // its values follow
  }
}

const afterText = (message: Buffer, start: number): number => message.indexOf(0, start) + 1;
const textAt = (message: Buffer, start: number): string => message.toString('utf8', start, message.indexOf(0, start));
