import { type Client, type Connection, DatabaseError, Query } from 'pg';
import { valueParsers } from './parse-instant';
import { type BoundStatement } from './query';

/*
 * Statements of one turn of the event loop are one request of the protocol: one Sync ends them, so that the server answers all of them in one
 * piece (docs/adr/0086-a-turns-statements-are-one-request.md).
 */

/** The answer to one statement. */
export interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** The command that the server ran, such as `SELECT` or `COMMIT`. */
  readonly command: string;
}

/** The server ran no statement of a request after the one that failed, whose error is the cause. */
export class StatementSkipped extends Error {
  override readonly name = 'StatementSkipped';

  constructor(cause: DatabaseError) {
    super('A statement was not run, since an earlier one of its request failed.', { cause });
  }
}

/** Names of prepared statements that were sent on a connection, and the columns of each that has been answered since. */
type Prepared = Map<string, readonly Column[] | undefined>;

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** Messages of the driver, as far as they are read. */
interface ColumnsMessage {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}
interface RowMessage {
  readonly fields: readonly (string | null)[];
}
interface CompletionMessage {
  readonly text: string;
}

/** A statement of a request, and what has been answered of it. */
class SentStatement {
  private columns: readonly Column[] | undefined;
  private readonly rows: Record<string, unknown>[] = [];
  private command = '';
  /** Why a row could not be read. */
  private fault: Error | undefined;

  constructor(
    private readonly statement: BoundStatement,
    private readonly values: (string | null)[],
    private readonly resolve: (answer: Answer) => void,
    readonly reject: (error: Error) => void,
  ) {}

  write(connection: Connection, prepared: Prepared): void {
    const { name = '', text } = this.statement;
    this.columns = name === '' ? undefined : prepared.get(name);
    if (this.columns === undefined) {
      // The statement of this name may be left from a request that failed, or be on its way.
      if (prepared.has(name)) connection.close({ type: 'S', name }, true);
      connection.parse({ name, text, types: [] }, true);
      if (name !== '') prepared.set(name, undefined);
    }
    connection.bind({ statement: name, values: this.values }, true);
    // The columns of a prepared statement are those of its first answer.
    if (this.columns === undefined) connection.describe({ type: 'P' }, true);
    connection.execute(null, true);
  }

  describe({ fields }: ColumnsMessage): void {
    this.columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: valueParsers.getTypeParser(dataTypeID) as Column['parse'], // typed `any` by the library
    }));
  }

  /** Does not throw: the driver would not catch it. */
  add({ fields }: RowMessage): void {
    try {
      const row: Record<string, unknown> = {};
      let at = 0;
      for (const { name, parse } of this.columns ?? []) {
        const text = fields[at++] ?? null;
        row[name] = text === null ? null : parse(text);
      }
      this.rows.push(row);
    } catch (cause) {
      this.fault ??= new Error('A row could not be read.', { cause });
    }
  }

  complete({ text }: CompletionMessage, prepared: Prepared): void {
    const end = text.indexOf(' ');
    this.command = end < 0 ? text : text.slice(0, end);
    if (this.statement.name !== undefined) prepared.set(this.statement.name, this.columns ?? []);
  }

  forget(prepared: Prepared): void {
    const { name } = this.statement;
    if (name !== undefined && prepared.has(name)) prepared.set(name, undefined);
  }

  settle(): void {
    if (this.fault === undefined) this.resolve({ rows: this.rows, command: this.command });
    else this.reject(this.fault);
  }
}

/** A request. The driver handles it as one query: it calls {@link submit} to send it, and the handlers below as messages arrive. */
class StatementBatch extends Query {
  /** Called when the request is over. The driver replaces it by one that also ends its time limit. */
  callback: () => void = () => undefined;
  private readonly statements: SentStatement[] = [];
  /** Number of statements that the server has run. */
  private completed = 0;

  constructor(private readonly prepared: Prepared) {
    super('');
  }

  add(statement: BoundStatement): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const values = statement.values.map(textOf);
      this.statements.push(new SentStatement(statement, values, resolve, reject));
    });
  }

  override readonly submit = (connection: Connection): void => {
    connection.stream.cork();
    try {
      for (const statement of this.statements) statement.write(connection, this.prepared);
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  };

  handleRowDescription(message: ColumnsMessage): void {
    this.current?.describe(message);
  }

  handleDataRow(message: RowMessage): void {
    this.current?.add(message);
  }

  handleCommandComplete(message: CompletionMessage): void {
    this.current?.complete(message, this.prepared);
    this.completed += 1;
  }

  /** A statement without a transaction may also fail after it has run. */
  handleError(error: Error): void {
    this.callback();
    const failed = Math.min(this.completed, this.statements.length - 1);
    const skipped = error instanceof DatabaseError ? new StatementSkipped(error) : error;
    this.statements.forEach((statement, at) => {
      if (at < failed) return statement.settle();
      statement.forget(this.prepared);
      statement.reject(at === failed ? error : skipped);
    });
  }

  handleReadyForQuery(): void {
    this.callback();
    for (const statement of this.statements.splice(0, this.completed)) statement.settle();
    for (const { reject } of this.statements) reject(new Error('The server did not run a statement.'));
  }

  private get current(): SentStatement | undefined {
    return this.statements[this.completed];
  }
}

/** A value in the text form of the protocol. */
const textOf = (value: BoundStatement['values'][number]): string | null => {
  if (typeof value === 'string' || value === null) return value;
  return typeof value === 'object' ? `{${value.map(quoted).join(',')}}` : String(value);
};

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** The state of a connection. */
interface Channel {
  readonly prepared: Prepared;
  /** The request that this turn's statements are added to. */
  open: StatementBatch | undefined;
}

const channels = new WeakMap<Client, Channel>();

/**
 * Sends a statement at the end of this turn of the event loop, in one request with the others of the turn on that connection, in their order.
 * After one that fails the later ones are not run, and fail with {@link StatementSkipped}.
 */
export const sendStatement = (client: Client, statement: BoundStatement): Promise<Answer> => {
  let channel = channels.get(client);
  if (channel === undefined) channels.set(client, (channel = { prepared: new Map(), open: undefined }));
  channel.open ??= openBatch(client, channel);
  return channel.open.add(statement);
};

const openBatch = (client: Client, channel: Channel): StatementBatch => {
  const batch = new StatementBatch(channel.prepared);
  process.nextTick(() => {
    channel.open = undefined;
    client.query(batch);
  });
  return batch;
};
