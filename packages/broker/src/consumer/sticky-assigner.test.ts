import fc from 'fast-check';
import { assignSticky, decodeClaim, encodeClaim, type MemberClaim, NO_CLAIM } from './sticky-assigner';

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const claim = (memberId: string, owned: readonly number[] = [], since = owned.length > 0 ? 1 : 0): MemberClaim => ({
  memberId,
  owned,
  since,
});
const assign = (claims: readonly MemberClaim[], partitions: number): Record<string, readonly number[]> =>
  Object.fromEntries(assignSticky(claims, range(partitions)));

describe('assignSticky', () => {
  it.each<[string, MemberClaim[], number, Record<string, number[]>]>([
    ['nobody', [], 4, {}],
    ['one newcomer', [claim('a')], 3, { a: [0, 1, 2] }],
    ['two newcomers', [claim('a'), claim('b')], 4, { a: [0, 2], b: [1, 3] }],
    ['a stable group', [claim('a', [1, 3]), claim('b', [0, 2])], 4, { a: [1, 3], b: [0, 2] }],
    ['a third member', [claim('a', [0, 1]), claim('b', [2, 3]), claim('c')], 4, { a: [0, 1], b: [2], c: [3] }],
    ['a member that left', [claim('a', [0, 1])], 4, { a: [0, 1, 2, 3] }],
    ['more members than partitions', [claim('a', [0]), claim('b'), claim('c')], 2, { a: [0], b: [1], c: [] }],
    ['new partitions', [claim('a', [0]), claim('b', [1])], 4, { a: [0, 2], b: [1, 3] }],
    ['partitions that are gone', [claim('a', [0, 9]), claim('b', [1, 8])], 2, { a: [0], b: [1] }],
    ['the later of two claims', [claim('old', [0, 1], 5), claim('young', [0, 1], 6)], 2, { old: [1], young: [0] }],
    ['two claims for one partition', [claim('a', [0], 1), claim('b', [0], 2)], 2, { a: [1], b: [0] }],
  ])('handles %s', (_name, claims, partitions, expected) => {
    expect(assign(claims, partitions)).toEqual(expected);
  });

  const groups = fc.record({
    partitions: fc.integer({ min: 0, max: 40 }),
    members: fc.uniqueArray(
      fc.record({
        memberId: fc.string({ minLength: 1, maxLength: 3 }),
        owned: fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 30 }),
        since: fc.integer({ min: 0, max: 5 }),
      }),
      { minLength: 1, maxLength: 9, selector: ({ memberId }) => memberId },
    ),
  });

  it('gives each partition to exactly one member, in fair shares', () => {
    fc.assert(
      fc.property(groups, ({ partitions, members }) => {
        const shares = [...assignSticky(members, range(partitions)).values()];
        expect(shares.flat().sort((a, b) => a - b)).toEqual(range(partitions));
        const sizes = shares.map(({ length }) => length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect(sizes).toHaveLength(members.length);
      }),
    );
  });

  it('depends on what is claimed, not on the order in which members are listed', () => {
    fc.assert(
      fc.property(groups, ({ partitions, members }) => {
        const backwards = assignSticky([...members].reverse(), range(partitions));
        expect(Object.fromEntries(backwards)).toEqual(assign(members, partitions));
      }),
    );
  });

  it('moves nothing when it is asked again', () => {
    fc.assert(
      fc.property(groups, ({ partitions, members }) => {
        const first = assignSticky(members, range(partitions));
        const again = members.map(({ memberId }) => ({ memberId, owned: first.get(memberId) ?? [], since: 9 }));
        expect(Object.fromEntries(assignSticky(again, range(partitions)))).toEqual(Object.fromEntries(first));
      }),
    );
  });

  it('takes what a member claims last', () => {
    const claims = [
      { memberId: 'a', owned: [5, 2, 0, 1, 3, 4], since: 1 },
      { memberId: 'b', owned: [], since: 0 },
    ];
    expect(Object.fromEntries(assignSticky(claims, [0, 1, 2, 3, 4, 5]))).toEqual({ a: [0, 2, 5], b: [1, 3, 4] });
  });

  it('moves only the share of a member that joins', () => {
    fc.assert(
      fc.property(groups, ({ partitions, members }) => {
        const first = assignSticky(members, range(partitions));
        const settled = members.map(({ memberId }) => ({ memberId, owned: first.get(memberId) ?? [], since: 9 }));
        const joined = assignSticky([...settled, claim('newcomer')], range(partitions));
        const newcomer = joined.get('newcomer') ?? [];
        for (const { memberId, owned } of settled) {
          const kept = joined.get(memberId) ?? [];
          expect(kept.filter((partition) => !owned.includes(partition))).toEqual([]);
          expect(owned.filter((partition) => !kept.includes(partition)).every((p) => newcomer.includes(p))).toBe(true);
        }
      }),
    );
  });
});

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
