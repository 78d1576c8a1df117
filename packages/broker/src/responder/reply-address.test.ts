import { readReplyAddress } from './reply-address';

const whole = { 'correlation-id': 'c', requester: 'r', 'reply-partition': '3', deadline: '5000' };

describe('readReplyAddress', () => {
  it('reads what is there, and shortens a deadline that lies far away', () => {
    expect(readReplyAddress(whole, 9_000)).toEqual({
      correlationId: 'c',
      requester: 'r',
      replyPartition: 3,
      deadline: 5_000,
    });
    expect(readReplyAddress(whole, 4_000)?.deadline).toBe(4_000);
  });

  it.each([undefined, '', 'soon', '-1', '1e400', '12.5'])('does without the deadline %j', (deadline) => {
    expect(readReplyAddress({ ...whole, deadline }, 9_000)?.deadline).toBe(9_000);
  });

  it.each(['correlation-id', 'requester', 'reply-partition'])('needs %s', (name) => {
    expect(readReplyAddress({ ...whole, [name]: undefined }, 9_000)).toBeUndefined();
    expect(readReplyAddress({ ...whole, [name]: '' }, 9_000)).toBeUndefined();
  });

  it.each(['-1', 'x', '1.5', '9007199254740993'])('refuses the partition %j', (partition) => {
    expect(readReplyAddress({ ...whole, 'reply-partition': partition }, 9_000)).toBeUndefined();
  });
});
