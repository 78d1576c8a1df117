import { exchange } from '../network/exchange';

const PROTOCOL_3 = 196_608;
const AUTHENTICATION = 'R'.charCodeAt(0);

/**
 * Whether PostgreSQL asks this user for its password. While it still starts or recovers it answers the same message with an
 * error.
 */
export const acceptsConnections = async (port: number, user: string, database: string): Promise<boolean> => {
  const body = Buffer.from(`\0\0\0\0user\0${user}\0database\0${database}\0\0`);
  body.writeInt32BE(PROTOCOL_3, 0);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  const answer = await exchange(port, Buffer.concat([length, body]), (bytes) => bytes.length > 0);
  return answer?.[0] === AUTHENTICATION;
};
