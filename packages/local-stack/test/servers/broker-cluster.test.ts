import { existsSync } from 'node:fs';
import { type RunningCluster, startBrokerCluster } from '../../src';
import { brokerAnswers } from '../../src/servers/broker-probe';
import { isAlive } from '../process-state';
import { downloads, removeTemporaryDirectories, temporaryDirectory } from '../temporary-directory';
import { portOf } from '../wire';

describe('a cluster of brokers', () => {
  const directory = temporaryDirectory();
  let cluster: RunningCluster;

  beforeAll(async () => {
    cluster = await startBrokerCluster({ directory, downloads, durable: false });
  }, 360_000);

  afterAll(async () => {
    await cluster?.stop();
    removeTemporaryDirectories();
  });

  const answers = (): Promise<boolean[]> =>
    Promise.all(cluster.addresses.map((address) => brokerAnswers(portOf(address))));

  it('answers on three addresses, and on two while a broker is down', async () => {
    expect(new Set(cluster.addresses).size).toBe(3);
    expect(await answers()).toEqual([true, true, true]);
    await cluster.controls[1]?.kill();
    expect((await answers())[1]).toBe(false);
    await cluster.controls[1]?.start();
    expect((await answers())[1]).toBe(true);
  }, 180_000);

  it('stops as a whole and gives its directory back', async () => {
    const pids = cluster.controls.map((control) => control.pid() ?? 0);
    expect(pids.every(isAlive)).toBe(true);
    await cluster.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(existsSync(`${directory}/stack.lock`)).toBe(false);
  }, 60_000);
});
