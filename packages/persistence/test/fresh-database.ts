import { testStack } from '@decision/local-stack';
import { createDatabase, dropDatabase } from '../src';

/** An empty database of its own on the shared test server. */
export interface FreshDatabase {
  readonly url: string;
  readonly name: string;
  drop(): Promise<void>;
}

/** The shared test server, as superuser. */
export const adminUrl = (): string => testStack().databaseUrl;

export const freshDatabase = async (label: string): Promise<FreshDatabase> => {
  const name = testStack().uniqueName(label);
  return { url: await createDatabase(adminUrl(), name), name, drop: () => dropDatabase(adminUrl(), name) };
};
