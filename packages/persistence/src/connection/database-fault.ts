import { type DatabaseError } from 'pg';

/** SQLSTATE class of faulty values, whose messages quote the value. */
const DATA_EXCEPTION = '22';

/**
 * The part of a server's error that may be logged: where it happened, never the values that caused it. The server's own error quotes rows in its
 * detail.
 */
export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';
  /** Five characters; see the appendix "PostgreSQL Error Codes". */
  readonly sqlState: string;
  readonly constraint: string | undefined;
  readonly table: string | undefined;

  constructor(error: DatabaseError) {
    const sqlState = error.code ?? 'XX000';
    super(sqlState.startsWith(DATA_EXCEPTION) ? `a value was refused (SQLSTATE ${sqlState})` : error.message);
    this.sqlState = sqlState;
    this.constraint = error.constraint;
    this.table = error.table;
  }
}
