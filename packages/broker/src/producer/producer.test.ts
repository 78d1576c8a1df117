import { largestMessageBytes, messageBytes, type OutgoingMessage } from './producer';

const message = (parts: Partial<OutgoingMessage>): OutgoingMessage => ({
  topic: 'solution',
  partition: undefined,
  headers: {},
  value: Buffer.alloc(0),
  deadline: 0,
  ...parts,
});

describe('sizes of messages', () => {
  it('count value, key and headers', () => {
    const empty = messageBytes(message({}));
    expect(messageBytes(message({ value: Buffer.alloc(500) }))).toBe(empty + 500);
    expect(messageBytes(message({ key: 'abc' }))).toBe(empty + 3);
    expect(messageBytes(message({ headers: { kind: 'solve' } }))).toBe(empty + 11);
  });

  it("leave room under the topic's own bound", () => {
    expect(largestMessageBytes({}, 'solution')).toBe(33_554_432 - 65_536);
    expect(largestMessageBytes({}, 'logs')).toBe(67_108_864 - 65_536);
    expect(largestMessageBytes({ messageBytes: { logs: 1_048_576 } }, 'logs')).toBe(1_048_576 - 65_536);
  });
});
