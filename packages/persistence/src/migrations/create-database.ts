import { ServiceError } from '@decision/contracts';
import { asAdministrator } from '../connection/administrator';

/** Names that need no quotes and no escapes. */
const PLAIN_NAME = /^[a-z][a-z0-9_]{0,62}$/;

const checkName = (name: string): string => {
  if (PLAIN_NAME.test(name)) return name;
  throw new ServiceError(
    'internal_error',
    `The database name "${name}" must be lowercase letters, digits and underscores, at most 63, beginning with a letter.`,
  );
};

/** An empty one that nobody can be connected to, so that many copies can be made at once. */
const EMPTY_TEMPLATE = 'template0';

/**
 * Makes a database, empty unless it is a copy of another one, and answers its URL. The user of the URL must be allowed to create databases,
 * and nobody may be connected to the one that is copied.
 */
export const createDatabase = async (adminUrl: string, name: string, template = EMPTY_TEMPLATE): Promise<string> => {
  const database = checkName(name);
  const copied = checkName(template);
  await asAdministrator(adminUrl, (client) =>
    client.query(`create database ${database} template ${copied} encoding 'UTF8'`),
  );
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
};

/** Removes a database where it exists, cutting the connections to it. */
export const dropDatabase = async (adminUrl: string, name: string): Promise<void> => {
  const database = checkName(name);
  await asAdministrator(adminUrl, (client) => client.query(`drop database if exists ${database} with (force)`));
};
