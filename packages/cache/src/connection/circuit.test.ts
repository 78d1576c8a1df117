import { createCircuit, type CircuitState } from './circuit';

const OPEN_MS = 1_000;

const setup = () => {
  const changes: CircuitState[] = [];
  const circuit = createCircuit({ openMs: OPEN_MS, onChange: (state) => changes.push(state) });
  const silence = (times: number, now: number): void => {
    for (let time = 0; time < times; time += 1) circuit.record('silent', now);
  };
  return { circuit, changes, silence };
};

describe('a circuit', () => {
  it('stays closed while silences are not three in a row', () => {
    const { circuit, changes, silence } = setup();
    for (let round = 0; round < 5; round += 1) {
      silence(2, 0);
      circuit.record('answered', 0);
    }
    expect(circuit.admits(0)).toBe(true);
    expect(changes).toEqual([]);
  });

  it('does not count a lost connection as silence', () => {
    const { circuit } = setup();
    for (let time = 0; time < 10; time += 1) circuit.record('lost', 0);
    expect(circuit.admits(0)).toBe(true);
  });

  it('opens at the third silence, once, for its time', () => {
    const { circuit, changes, silence } = setup();
    silence(50, 0);
    expect(changes).toEqual(['open']);
    expect(circuit.admits(OPEN_MS - 1)).toBe(false);
  });

  it('then admits one probe, and closes when it is answered', () => {
    const { circuit, changes, silence } = setup();
    silence(3, 0);
    expect([circuit.admits(OPEN_MS), circuit.admits(OPEN_MS), circuit.admits(OPEN_MS * 99)]).toEqual([
      true,
      false,
      false,
    ]);
    circuit.record('answered', OPEN_MS);
    expect(circuit.admits(OPEN_MS)).toBe(true);
    expect(changes).toEqual(['open', 'closed']);
  });

  it('stays open twice as long after each silent probe, at most five times as long', () => {
    const { circuit, silence } = setup();
    silence(3, 0);
    let now = OPEN_MS;
    for (const next of [2, 4, 5, 5, 5].map((factor) => factor * OPEN_MS)) {
      expect(circuit.admits(now)).toBe(true);
      circuit.record('silent', now);
      expect(circuit.admits(now + next - 1)).toBe(false);
      now += next;
    }
  });

  it('tries again after a probe whose connection was lost', () => {
    const { circuit, silence } = setup();
    silence(3, 0);
    circuit.admits(OPEN_MS);
    circuit.record('lost', OPEN_MS);
    expect(circuit.admits(OPEN_MS * 2 - 1)).toBe(false);
    expect(circuit.admits(OPEN_MS * 2)).toBe(true);
  });

  it('starts over with a new connection', () => {
    const { circuit, changes, silence } = setup();
    silence(3, 0);
    circuit.reset();
    expect(circuit.admits(0)).toBe(true);
    silence(2, 0);
    expect(changes).toEqual(['open', 'closed']);
  });
});
