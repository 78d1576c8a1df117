import { logProperties, serverProperties } from './broker-configuration';

const read = (text: string): Map<string, string> =>
  new Map(
    text
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

describe('the configuration of the broker', () => {
  const properties = read(serverProperties({ clients: 20_001, controller: 20_002 }));

  it('listens on loopback alone and tells clients the port that they can reach', () => {
    expect(properties.get('listeners')).toBe('CONTROLLER://127.0.0.1:20002,PLAINTEXT://127.0.0.1:20001');
    expect(properties.get('advertised.listeners')).toBe('PLAINTEXT://127.0.0.1:20001');
    expect(properties.get('controller.quorum.voters')).toBe('1@127.0.0.1:20002');
  });

  it('makes no topics unasked and takes messages of 64 MiB', () => {
    expect(properties.get('auto.create.topics.enable')).toBe('false');
    expect(properties.get('message.max.bytes')).toBe('67108864');
  });

  it('needs no second broker for any of its own topics', () => {
    const factors = [...properties].filter(([name]) => /replication\.factor$|min\.isr$/.test(name));
    expect(factors).toHaveLength(5);
    expect(factors.every(([, value]) => value === '1')).toBe(true);
  });

  it('names no path but relative ones: absolute ones would need escaping', () => {
    const paths = [...properties, ...read(logProperties())].filter(([, value]) => value.startsWith('/'));
    expect(paths).toEqual([]);
  });
});
