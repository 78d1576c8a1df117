import { isRejoinSignal, isRejoinSignalFor, rejoinSignal } from './rejoin-signals';

/** Headers as they arrive. */
const received = (headers: Readonly<Record<string, string>>): Record<string, Buffer> =>
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]));

describe('rejoin signals', () => {
  const signal = received(rejoinSignal('acme.group', 'sender'));

  it('are distinguished from other messages', () => {
    expect(isRejoinSignal(signal)).toBe(true);
    expect(isRejoinSignal(received({ 'correlation-id': '1' }))).toBe(false);
  });

  it('are for the other members of their group', () => {
    expect(isRejoinSignalFor(signal, 'acme.group', 'me')).toBe(true);
    expect(isRejoinSignalFor(signal, 'acme.group', 'sender')).toBe(false);
    expect(isRejoinSignalFor(signal, 'other.group', 'me')).toBe(false);
  });
});
