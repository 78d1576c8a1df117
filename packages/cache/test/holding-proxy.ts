import { type ProxiedConnection, startTcpProxy, type TcpProxy } from '@decision/local-stack';

/** A proxy in front of a cache that can hold back commands. */
export interface HoldingProxy extends TcpProxy {
  /** Holds what clients send until `release`, or until `cut` discards it. */
  hold(): void;
  /** Forwards what was held, and everything from now on. */
  release(): void;
}

export const startHoldingProxy = async (cacheUrl: string): Promise<HoldingProxy> => {
  let isHolding = false;
  const forwards = new Set<() => void>();
  const relay = ({ client, server }: ProxiedConnection): void => {
    const held: Buffer[] = [];
    const forward = (): void => held.splice(0).forEach((bytes) => server.write(bytes));
    forwards.add(forward);
    client.once('close', () => forwards.delete(forward));
    client.on('data', (bytes) => {
      held.push(bytes);
      if (!isHolding) forward();
    });
    server.pipe(client);
  };
  const proxy = await startTcpProxy(cacheUrl, { relay });
  const hold = (): void => {
    isHolding = true;
  };
  const release = (): void => {
    isHolding = false;
    forwards.forEach((forward) => forward());
  };
  const cut = (): void => {
    isHolding = false;
    proxy.cut();
  };
  return { ...proxy, hold, release, cut };
};
