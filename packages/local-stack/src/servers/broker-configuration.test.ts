import { type BrokerNode, logProperties, serverProperties } from './broker-configuration';

const read = (text: string): Map<string, string> =>
  new Map(
    text
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

const node = (id: number): BrokerNode => ({ id, ports: { clients: 20_000 + id, controller: 20_010 + id } });

describe('the configuration of the broker', () => {
  const properties = read(serverProperties(node(1), [node(1)]));

  it('listens only on loopback and advertises the reachable port', () => {
    expect(properties.get('listeners')).toBe('CONTROLLER://127.0.0.1:20011,CLIENTS://127.0.0.1:20001');
    expect(properties.get('advertised.listeners')).toBe('CLIENTS://127.0.0.1:20001');
    expect(properties.get('controller.quorum.voters')).toBe('1@127.0.0.1:20011');
  });

  it('creates no topics by itself, and accepts and replicates messages of 64 MiB', () => {
    expect(properties.get('auto.create.topics.enable')).toBe('false');
    expect(properties.get('message.max.bytes')).toBe('67108864');
    expect(properties.get('replica.fetch.max.bytes')).toBe('134217728');
    expect(properties.get('replica.fetch.response.max.bytes')).toBe('134217728');
  });

  it('needs no second broker for any of its own topics', () => {
    const factors = [...properties].filter(([name]) => /replication\.factor$|min\.isr$/.test(name));
    expect(factors).toHaveLength(5);
    expect(factors.every(([, value]) => value === '1')).toBe(true);
    expect(properties.get('min.insync.replicas')).toBe('1');
  });

  it('has three copies in a cluster of three brokers, and acknowledges with two', () => {
    const nodes = [node(1), node(2), node(3)];
    const second = read(serverProperties(node(2), nodes));
    expect(second.get('node.id')).toBe('2');
    expect(second.get('controller.quorum.voters')).toBe('1@127.0.0.1:20011,2@127.0.0.1:20012,3@127.0.0.1:20013');
    expect(second.get('advertised.listeners')).toBe('CLIENTS://127.0.0.1:20002');
    const factors = [...second].filter(([name]) => name.endsWith('replication.factor'));
    expect(factors.map(([, value]) => value)).toEqual(['3', '3', '3']);
    const inSync = [...second].filter(([name]) => /min\.(isr|insync\.replicas)$/.test(name));
    expect(inSync.map(([, value]) => value)).toEqual(['2', '2', '2']);
  });

  it('has only relative paths, since absolute ones would need escaping', () => {
    const paths = [...properties, ...read(logProperties())].filter(([, value]) => value.startsWith('/'));
    expect(paths).toEqual([]);
  });
});
