import { DatabaseError } from 'pg';
import { type Transaction } from './query';

const UNIQUE_VIOLATION = '23505';

/** Result of a write whose name may be taken. */
type UniqueWrite<T> =
  | { readonly status: 'written'; readonly value: T }
  /** The unique constraint that another row, perhaps a hidden one, holds. */
  | { readonly status: 'taken'; readonly constraint: string };

/** Runs a write behind a savepoint, so that the transaction can continue when a unique constraint refuses it. */
export const writeUnlessTaken = async <T>(
  transaction: Transaction,
  write: (savepoint: Transaction) => Promise<T>,
): Promise<UniqueWrite<T>> => {
  try {
    return { status: 'written', value: await transaction.savepoint(write) };
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== UNIQUE_VIOLATION) throw error;
    return { status: 'taken', constraint: error.constraint ?? '' };
  }
};
