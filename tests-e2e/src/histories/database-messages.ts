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

/** Tells which statement a client's message has carried out, across the messages of one connection. */
export class StatementReader {
  /** Texts that the connection keeps, by the names that it gave them. */
  private readonly prepared = new Map<string, string>();

  /** The statement of a message that brings one at once (`Q`), or without a name (`P`), or binds values to one that is kept (`B`). */
  textOf(message: Buffer): string | undefined {
    const letter = String.fromCharCode(message[0] ?? 0);
    if (letter === 'Q') return message.toString('utf8', HEAD, message.length - 1);
    if (letter === 'B') return this.prepared.get(textAt(message, afterText(message, HEAD)));
    if (letter !== 'P') return undefined;
    const name = textAt(message, HEAD);
    const text = textAt(message, afterText(message, HEAD));
    if (name === '') return text;
    this.prepared.set(name, text);
    return undefined; // its values come next
  }
}

const afterText = (message: Buffer, start: number): number => message.indexOf(0, start) + 1;
const textAt = (message: Buffer, start: number): string => message.toString('utf8', start, message.indexOf(0, start));
