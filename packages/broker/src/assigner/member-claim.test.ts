import { decodeClaim, encodeClaim, NO_CLAIM } from './member-claim';

describe('claims', () => {
  it('come back as they were written', () => {
    const claim = { owned: [0, 7, 127], since: 1_763_000_000_000 };
    expect(decodeClaim(encodeClaim(claim))).toEqual(claim);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['no bytes', Buffer.alloc(0)],
    ['bytes of another program', Buffer.from([0, 1, 0xff])],
    ['JSON that is no object', Buffer.from('null')],
    ['a partition that is no number', Buffer.from('{"owned":["1"],"since":1}')],
    ['a negative partition', Buffer.from('{"owned":[-1],"since":1}')],
    ['a fraction', Buffer.from('{"owned":[1.5],"since":1}')],
    ['no time', Buffer.from('{"owned":[1]}')],
    ['too many partitions', Buffer.from(JSON.stringify({ owned: new Array(100_001).fill(1), since: 1 }))],
  ])('made of %s are no claim', (_name, bytes) => {
    expect(decodeClaim(bytes)).toEqual(NO_CLAIM);
  });
});
