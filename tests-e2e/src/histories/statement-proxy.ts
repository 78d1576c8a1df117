import { type ProxiedConnection, startTcpProxy } from '@decision/local-stack';
import { MessageReader, StatementReader } from './database-messages';

/** Position of a trap: the nth statement of this kind from now on, on any connection, or the commit of its transaction. */
export interface TrapPosition {
  readonly statement: RegExp;
  /** 1 or more; default 1. */
  readonly nth?: number;
  readonly at?: 'statement' | 'commit';
}

/** A proxy between one process and its database that recognises statements and can stop them. */
export interface StatementProxy {
  /** The address of the database through this proxy. */
  readonly url: string;
  /** Holds back the statement at the position until it is released or its sender is gone. Resolves when it has arrived. */
  hold(position: TrapPosition): Promise<{ letGo(): void }>;
  /** Lets the database execute the statement at the position, withholds the answer, and cuts the connection. Resolves when it is executed, before the connection is cut. */
  loseAnswer(position: TrapPosition): Promise<void>;
  /** Answers matching statements without values with an error, in place of the database, until ended. */
  fail(statement: RegExp, sqlState: string): Failing;
  /** Cuts all connections and refuses new ones. */
  refuse(): void;
  /** Accepts connections again. */
  admit(): void;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Statements that fail. */
interface Failing {
  /** Number of failed statements. */
  failed(): number;
  end(): void;
}

interface Failure {
  readonly statement: RegExp;
  readonly answer: Buffer;
  failed: number;
}

interface Trap extends TrapPosition {
  left: number;
  readonly keepsAnswer: boolean;
  readonly sprung: (connection: Connection) => void;
}

export const startStatementProxy = async (databaseUrl: string): Promise<StatementProxy> => {
  const traps = new Set<Trap>();
  const failures = new Set<Failure>();
  const proxy = await startTcpProxy(databaseUrl, {
    relay: (connection) => new Connection(connection, traps, failures),
  });
  const set = (position: TrapPosition, keepsAnswer: boolean): Promise<Connection> =>
    new Promise((sprung) => traps.add({ ...position, left: position.nth ?? 1, keepsAnswer, sprung }));
  return {
    url: proxy.url,
    hold: async (position) => {
      const connection = await set(position, false);
      return { letGo: () => connection.letGo() };
    },
    loseAnswer: async (position) => {
      await set(position, true);
    },
    fail: (statement, sqlState) => {
      const failure: Failure = { statement, answer: errorAnswer(sqlState), failed: 0 };
      failures.add(failure);
      return { failed: () => failure.failed, end: () => void failures.delete(failure) };
    },
    refuse: () => proxy.refuse(),
    admit: () => proxy.admit(),
    close: () => proxy.close(),
  };
};

/** One proxied connection. */
class Connection {
  private readonly asked = new MessageReader({ greets: true });
  private readonly answered = new MessageReader({ greets: false });
  private readonly statements = new StatementReader();
  /** Traps whose statement ran in the open transaction. */
  private readonly armed = new Set<Trap>();
  private held: Buffer[] | undefined;
  private losing: { readonly trap: Trap; readonly request: number } | undefined;
  /** Requests that were sent, and answers that are complete; the greeting is answered too. Several requests may be sent before an answer. */
  private requests = 1;
  private answers = 0;

  constructor(
    private readonly proxied: ProxiedConnection,
    private readonly traps: Set<Trap>,
    private readonly failures: ReadonlySet<Failure>,
  ) {
    const { client, server } = proxied;
    client.on('data', (data) => this.asked.read(data).forEach((message) => this.ask(message)));
    server.on('data', (data) => this.answered.read(data).forEach((message) => this.answer(message)));
  }

  letGo(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const message of held) this.proxied.server.write(message);
  }

  private ask(message: Buffer): void {
    const text = this.statements.textOf(message);
    if (this.fails(text)) return;
    const trap = this.trapFor(text);
    if (isRequest(message)) this.requests += 1;
    // A statement with values is complete, as a request, with a message that follows.
    if (trap?.keepsAnswer === true) this.losing = { trap, request: this.requests + (isRequest(message) ? 0 : 1) };
    if (trap?.keepsAnswer === false) {
      this.held = [];
      trap.sprung(this);
    }
    if (this.held === undefined) this.proxied.server.write(message);
    else this.held.push(message);
  }

  private fails(text: string | undefined): boolean {
    const failure = [...this.failures].find(({ statement }) => text !== undefined && statement.test(text));
    if (failure === undefined) return false;
    failure.failed += 1;
    this.proxied.client.write(failure.answer);
    return true;
  }

  /** The trap that this statement triggers. */
  private trapFor(text: string | undefined): Trap | undefined {
    if (text === undefined) return undefined;
    const isCommit = /^commit\b/i.test(text);
    const [armed] = this.armed;
    if (isCommit || /^rollback\b/i.test(text)) this.armed.clear();
    if (isCommit && armed !== undefined) return armed;
    for (const trap of this.traps) {
      if (!trap.statement.test(text) || (trap.left -= 1) > 0) continue;
      this.traps.delete(trap);
      if (trap.at !== 'commit') return trap;
      this.armed.add(trap);
    }
    return undefined;
  }

  private answer(message: Buffer): void {
    const isLost = this.losing !== undefined && this.answers >= this.losing.request - 1;
    if (isReady(message)) this.answers += 1;
    if (!isLost) return void this.proxied.client.write(message);
    if (!isReady(message)) return;
    this.losing?.trap.sprung(this);
    // A turn later: a test that kills the process does so before the process notices.
    setImmediate(() => this.proxied.cut());
  }
}

/** A message of the server: a letter, a length that includes itself, and the body. */
const serverMessage = (letter: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

/** Reports that a statement has failed, and its transaction with it. */
const errorAnswer = (sqlState: string): Buffer =>
  Buffer.concat([
    serverMessage('E', Buffer.from(`SERROR\0VERROR\0C${sqlState}\0Mrefused by a test\0\0`)),
    serverMessage('Z', Buffer.from('E')),
  ]);

/** A message that the server answers until it is ready: a statement without values, or the end of one with values. */
const isRequest = (message: Buffer): boolean => message[0] === 'Q'.charCodeAt(0) || message[0] === 'S'.charCodeAt(0);

/** The server has completed the request, and is ready for the next. */
const isReady = (message: Buffer): boolean => message[0] === 'Z'.charCodeAt(0);
