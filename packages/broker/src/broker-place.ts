import { hostname } from 'node:os';
import type { BrokerSettings } from './settings';

/**
 * The place of a process that listens on an address of its own, see {@link BrokerSettings.place}. None where any free port is
 * taken (0), because the next process would not take the same. To be used by processes that listen before they join a group.
 */
export const brokerPlace = ({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): Pick<BrokerSettings, 'place'> => (port === 0 ? {} : { place: `${hostname()}/${host}:${port}` });
