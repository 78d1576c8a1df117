import { connect } from 'node:net';

/** How long one broker may take to accept a connection, ms. */
const DEADLINE_MS = 1_000;
const DEFAULT_PORT = 9_092;

/** Whether one of the brokers, each `host:port`, accepts a connection. They are all asked at once; nothing is sent. */
export const probeBroker = async (addresses: readonly string[]): Promise<boolean> => {
  const accepted = await Promise.all(addresses.map(accepts));
  return accepted.includes(true);
};

const accepts = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const colon = address.lastIndexOf(':');
    const [host, port] =
      colon < 0 ? [address, DEFAULT_PORT] : [address.slice(0, colon), Number(address.slice(colon + 1))];
    const socket = connect({ host: host.replace(/^\[|\]$/g, ''), port, timeout: DEADLINE_MS });
    const end = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', end(true)).once('timeout', end(false)).once('error', end(false));
  });
