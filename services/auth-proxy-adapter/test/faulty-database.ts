import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type Database, type Transaction } from '@decision/persistence';

/** Fault injection of the database. */
export interface Fault {
  /** It fails before the n-th statement, begin or commit from now on, counted from 1; before that it works again. Infinity: never. */
  at(step: number): void;
  /** Whether it has failed since. */
  struck(): boolean;
}

interface Wire {
  /** The address of the database through this proxy. */
  readonly url: string;
  /** Closes its connections and new ones at once, or lets them be. */
  cut(isCut: boolean): void;
  close(): Promise<void>;
}

/** A proxy to the database of an address, which can be interrupted. */
export const openWire = async (url: string): Promise<Wire> => {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one
        .on('error', () => undefined)
        .once('close', () => {
          sockets.delete(one);
          other.destroy();
        });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = new URL(url);
  near.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: near.href,
    cut: (wanted) => {
      isCut = wanted;
      if (isCut) for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** A database whose connection is cut before the n-th statement, begin or commit of its users. */
export const faultyDatabase = (
  database: Database,
  wire: Pick<Wire, 'cut'>,
): { readonly database: Database; readonly fault: Fault } => {
  let [step, last] = [0, Infinity];
  const pass = (): void => {
    step += 1;
    if (step === last) wire.cut(true);
  };
  const wrap = (transaction: Transaction): Transaction => ({
    raw: (sql, bindings) => {
      pass();
      return transaction.raw(sql, bindings);
    },
    copyIn: (sql, lines) => {
      pass();
      return transaction.copyIn(sql, lines);
    },
    savepoint: (work) => {
      pass();
      return transaction.savepoint((savepoint) => work(wrap(savepoint)));
    },
  });
  return {
    fault: {
      at: (wanted) => {
        [step, last] = [0, wanted];
        wire.cut(false);
      },
      struck: () => step >= last,
    },
    database: {
      ...database,
      lookUp: (sql, bindings) => {
        pass();
        return database.lookUp(sql, bindings);
      },
      inWorkspace: (access, work) => {
        pass();
        return database.inWorkspace(access, async (transaction) => {
          const result = await work(wrap(transaction));
          pass(); // the commit
          return result;
        });
      },
    },
  };
};
