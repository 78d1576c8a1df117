import { type TcpProxy } from '@decision/local-stack';
import { type Database, type Transaction } from '@decision/persistence';

/** Fault injection of the database. */
export interface Fault {
  /** It fails before the n-th statement, begin or commit from now on, counted from 1; before that it works again. Infinity: never. */
  at(step: number): void;
  /** Whether it has failed since. */
  struck(): boolean;
}

/** A database behind a proxy whose connections are cut before the n-th statement, begin or commit of its users. */
export const faultyDatabase = (
  database: Database,
  proxy: Pick<TcpProxy, 'refuse' | 'admit'>,
): { readonly database: Database; readonly fault: Fault } => {
  let [step, last] = [0, Infinity];
  const pass = (): void => {
    step += 1;
    if (step === last) proxy.refuse();
  };
  const wrap = (transaction: Transaction): Transaction => ({
    raw: (sql, bindings) => {
      pass();
      return transaction.raw(sql, bindings);
    },
    commitWith: (sql, bindings) => {
      pass();
      return transaction.commitWith(sql, bindings);
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
        proxy.admit();
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
