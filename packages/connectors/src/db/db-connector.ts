import { type FlowOutput } from '@decision/contracts';
import { DatabaseError, type PoolClient } from 'pg';
import Cursor from 'pg-cursor';
import { type Connector, type ConnectorCall, ConnectorFailure, type NodeOutputs } from '../connector';
import { createAddressGuard, type Lookup } from '../network/address-guard';
import { readAddress } from './address';
import { GuardedSocket } from './guarded-socket';
import { DatabasePools } from './pools';
import { parametersOf, readQuery } from './query';
import { parserOf } from './values';

interface DbOptions {
  /** Databases that may be asked even if their addresses are not public: FLOW_DB_ALLOWED_HOSTS. */
  readonly allowedHosts: readonly string[];
  /** Time of a node, ms. Default 10,000. */
  readonly timeoutMs?: number;
  /** Rows that a query may answer. Default 10,000. */
  readonly maxRows?: number;
  /** Bytes that are read for one query. Default 10 MiB. */
  readonly maxBytes?: number;
  /** Connections to one database per workspace. Default 4. */
  readonly maxConnections?: number;
  /** Databases at once. Default 50. */
  readonly maxPools?: number;
  readonly lookup?: Lookup;
}

interface Bounds {
  readonly maxRows: number;
  readonly maxBytes: number;
}

type Row = Readonly<Record<string, unknown>>;

/** Rows that are fetched at once. */
const BATCH = 500;
/** Classes and codes of temporary errors: lost or too many connections, a server that stops, conflicts of transactions. */
const PASSING = /^(08|53|57P|40)/;
const MAX_MESSAGE = 300;

/** Nodes that run one statement in a PostgreSQL database, with inputs only as parameters. */
export const createDbConnector = (options: DbOptions): Connector => {
  const { allowedHosts, timeoutMs = 10_000, maxRows = 10_000, maxBytes = 10_485_760, lookup } = options;
  const guard = createAddressGuard({
    allowed: allowedHosts,
    setting: 'FLOW_DB_ALLOWED_HOSTS',
    ...(lookup === undefined ? {} : { lookup }),
  });
  const { maxConnections = 4, maxPools = 50 } = options;
  const pools = new DatabasePools(guard, { maxConnections, maxPools });
  return {
    type: 'db',
    timeoutMs,
    targetOf: (call) => {
      const { host, port, digest } = addressOf(call);
      // If the address comes from a vault, its parts are as secret as the whole.
      return call.secrets.length > 0 ? `database ${digest.slice(0, 8)}` : `${host}:${port}`;
    },
    isRepeatable: isReadOnly,
    run: async (call) => {
      const connection = await connect(pools, call);
      return withConnection(connection, call, (client) => ask(client, call, { maxRows, maxBytes }));
    },
    stop: () => pools.stop(),
  };
};

const addressOf = ({ fields, inputs }: ConnectorCall) => readAddress(String(fields['connectionString']), inputs);

const isReadOnly = ({ fields }: ConnectorCall): boolean => fields['readOnly'] !== false;

const connect = async (pools: DatabasePools, call: ConnectorCall): Promise<PoolClient> => {
  const address = addressOf(call);
  try {
    return await pools.of(call.workspaceId, address).connect();
  } catch (error) {
    if (error instanceof ConnectorFailure)
      throw error.reworded(error.message.replaceAll(address.host.toLowerCase(), 'The host of the database'));
    const code = (error as NodeJS.ErrnoException | undefined)?.code ?? 'no answer';
    throw new ConnectorFailure(
      `The login to the database failed (${code}); check its connectionString, and whether it is up.`,
      // A rejected name or password is not a fault of the database.
      { mayRetry: !code.startsWith('28') && code !== '3D000' },
    );
  }
};

/**
 * Uses a connection and returns it to its pool in its original state. A connection that failed, or whose request was aborted, is closed.
 */
const withConnection = async (
  client: PoolClient,
  { signal }: ConnectorCall,

  work: (client: PoolClient) => Promise<NodeOutputs>,
): Promise<NodeOutputs> => {
  let isDone = false;
  const release = (isBroken: boolean): void => {
    if (isDone) return;
    isDone = true;
    signal.removeEventListener('abort', giveUp);
    client.release(isBroken);
  };
  const giveUp = (): void => {
    socketOf(client).destroy();
    release(true);
  };
  const onError = (): void => undefined;
  client.on('error', onError);
  signal.addEventListener('abort', giveUp);
  try {
    if (signal.aborted)
      throw new ConnectorFailure('The caller no longer waits for this query.', { outcome: 'abandoned' });
    const outputs = await work(client);
    await client.query('DISCARD ALL');
    client.off('error', onError);
    release(false);
    return outputs;
  } catch (error) {
    release(true);
    throw failureOf(error);
  }
};

/** The driver's stream is the one that its pool was configured to make, with TLS on top. */
const socketOf = (client: PoolClient): GuardedSocket => {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: unknown } }).connection;
  if (stream instanceof GuardedSocket) return stream;
  return (stream as { readonly _parent: GuardedSocket })._parent;
};

const ask = async (client: PoolClient, call: ConnectorCall, bounds: Bounds): Promise<NodeOutputs> => {
  const query = readQuery(String(call.fields['query']));
  const leftMs = Math.max(1, Math.floor(call.deadline - Date.now()));
  const access = isReadOnly(call) ? 'READ ONLY' : 'READ WRITE';
  await client.query(
    `BEGIN ${access}; SET LOCAL statement_timeout = ${leftMs}; SET LOCAL datestyle = ISO; SET LOCAL timezone = UTC`,
  );
  const cursor = client.query(
    new Cursor<Row>(query.text, [...parametersOf(query, call.inputs)], { types: { getTypeParser: parserOf } }),
  );
  const rows = await readRows(cursor, socketOf(client), bounds);
  await cursor.close();
  await client.query(isReadOnly(call) ? 'ROLLBACK' : 'COMMIT');
  return outputsOf(call, rows);
};

const readRows = async (cursor: Cursor<Row>, socket: GuardedSocket, bounds: Bounds): Promise<readonly Row[]> => {
  const { maxRows, maxBytes } = bounds;
  socket.beginCount();
  let isTooLarge = false;
  const count = (): void => {
    if (socket.counted <= maxBytes) return;
    isTooLarge = true;
    socket.destroy();
  };
  socket.on('data', count);
  const rows: Row[] = [];
  try {
    for (;;) {
      const batch = await cursor.read(Math.min(BATCH, maxRows + 1 - rows.length));
      if (batch.length === 0) return rows;
      rows.push(...batch);
      if (rows.length > maxRows)
        throw tooMuch(`The query answers more than ${maxRows} rows, which is the limit; ask for fewer, with limit.`);
    }
  } catch (error) {
    throw isTooLarge
      ? tooMuch(`The query answers more than ${maxBytes} bytes, which is the limit; ask for fewer columns or rows.`)
      : error;
  } finally {
    socket.off('data', count);
  }
};

const tooMuch = (message: string): ConnectorFailure => new ConnectorFailure(message, { outcome: 'refused' });

/** `rows`, and for each declared output the column of that name in the first row. */
const outputsOf = ({ fields }: ConnectorCall, rows: readonly Row[]): NodeOutputs => {
  const [first = {}] = rows;
  const declared = (fields['outputs'] ?? []) as readonly FlowOutput[]; // checked when the flow was compiled
  const columns = declared.filter(({ key }) => Object.hasOwn(first, key)).map(({ key }) => [key, first[key]] as const);
  return { ...Object.fromEntries(columns), rows };
};

const failureOf = (error: unknown): ConnectorFailure => {
  if (error instanceof ConnectorFailure) return error;
  if (!(error instanceof DatabaseError))
    return new ConnectorFailure('The connection to the database broke; it may have been restarted.', {
      mayRetry: true,
    });
  const { code = 'unknown', message } = error;
  if (code === '57014')
    return new ConnectorFailure('The query took longer than its time; make it faster, or raise timeoutMs.', {
      outcome: 'timeout',
    });
  const isPassing = PASSING.test(code);
  return new ConnectorFailure(
    `The database refused the query (${code}): ${message.slice(0, MAX_MESSAGE)}`,
    isPassing ? { mayRetry: true } : { outcome: 'invalid' },
  );
};
