import { StackError } from '../stack-error';
import type { ServerName } from '../stack-options';
import { freePort, isPortFree } from './free-port';

/** The variables of `npm start` that fix a port. */
const VARIABLES: Readonly<Record<ServerName, string>> = {
  database: 'DATABASE_PORT',
  cache: 'CACHE_PORT',
  broker: 'BROKER_PORT',
};

/** The fixed port of each server, else a free one. @throws {StackError} where a fixed one is taken. */
export const choosePorts = async (
  servers: readonly ServerName[],
  fixed: Readonly<Partial<Record<ServerName, number | undefined>>>,
): Promise<Map<ServerName, number>> => {
  const ports = new Map<ServerName, number>();
  for (const server of servers) {
    const port = fixed[server];
    if (port !== undefined && !(await isPortFree(port))) {
      throw new StackError(
        'port_in_use',
        `Port ${port} for the ${server} is in use: stop what listens there, or set ${VARIABLES[server]} to another port.`,
      );
    }
    ports.set(server, port ?? (await freePort()));
  }
  return ports;
};
