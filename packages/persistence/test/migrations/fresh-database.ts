import { testStack } from '@decision/local-stack';
import { createDatabase, dropDatabase } from '../../src';
import { createMigratedDatabase } from '../../src/testing';

/** A database of its own on the shared test server. */
export interface FreshDatabase {
  readonly url: string;
  readonly name: string;
  drop(): Promise<void>;
}

/** The shared test server, as superuser. */
export const adminUrl = (): string => testStack().databaseUrl;

/** An empty one. */
export const freshDatabase = (label: string): Promise<FreshDatabase> => makeDatabase(label, createDatabase);

/** A migrated one. */
export const migratedDatabase = (label: string): Promise<FreshDatabase> => makeDatabase(label, createMigratedDatabase);

const makeDatabase = async (
  label: string,
  make: (adminUrl: string, name: string) => Promise<string>,
): Promise<FreshDatabase> => {
  const name = testStack().uniqueName(label);
  return { url: await make(adminUrl(), name), name, drop: () => dropDatabase(adminUrl(), name) };
};
