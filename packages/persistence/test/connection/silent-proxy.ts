import { type ProxiedConnection, startTcpProxy, type TcpProxy } from '@decision/local-stack';

/** A proxy in front of a database that can go silent without closing a connection. */
export interface SilentProxy extends TcpProxy {
  /** Discards all bytes in both directions from now on; connections stay open and new ones are accepted. */
  swallow(): void;
  /** Passes the bytes of new connections again, and cuts those that lost some. */
  heal(): void;
}

export const startSilentProxy = async (databaseUrl: string): Promise<SilentProxy> => {
  let isSilent = false;
  const relay = ({ client, server }: ProxiedConnection): void => {
    client.on('data', (bytes) => isSilent || server.write(bytes));
    server.on('data', (bytes) => isSilent || client.write(bytes));
  };
  const proxy = await startTcpProxy(databaseUrl, { relay });
  const swallow = (): void => {
    isSilent = true;
  };
  const heal = (): void => {
    isSilent = false;
    proxy.cut();
  };
  return { ...proxy, swallow, heal };
};
