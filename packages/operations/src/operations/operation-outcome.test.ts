import { type OperationFound } from '@decision/persistence';
import { outcomeOfAdmission, outcomeOfWriteBack } from './operation-outcome';

const AT = '2026-01-15T09:30:00.000Z';

/** Instances by their ids: version, fence and whether the operation holds them. */
const found = (
  takeovers: number | undefined,
  instances: Readonly<Record<string, readonly [version: number, fence: number, isHeld?: boolean]>>,
): OperationFound => ({
  takeovers,
  instances: Object.entries(instances).map(([instanceId, [version, fence, isHeld = false]]) => ({
    ...{ instanceId, version, fence, isHeld, createdAt: AT, writtenAt: AT, expiresAt: null },
  })),
  isUnderWay: false,
  foundAt: AT,
});

describe('C149: an admission whose answer was lost', () => {
  const versions = new Map([
    ['a', 4],
    ['b', 0],
  ]);
  const outcome = (operation: OperationFound, isLeaseHeld = true) =>
    outcomeOfAdmission(operation, { versions, transactionId: '77', isLeaseHeld });

  it('is committed if the operation holds all its instances, and is answered with them', () => {
    const held = found(0, { a: [5, 2, true], b: [1, 1, true] });
    expect(outcome(held)).toEqual([
      { ...held.instances[0], transactionId: '77' },
      { ...held.instances[1], transactionId: '77' },
    ]);
    expect(outcome(held, false)).toHaveLength(2);
  });

  it('is under way as long as its transaction is', () => {
    expect(outcome({ ...found(undefined, { a: [4, 1] }), isUnderWay: true })).toBe('under_way');
  });

  it('is rolled back if there is no operation, and nobody can have ended it', () => {
    expect(outcome(found(undefined, { a: [4, 1] }))).toBe('rolled_back');
    expect(outcome(found(undefined, { a: [5, 2, false] }))).toBe('rolled_back'); // by another request
  });

  it('is rolled back after the lease only if all instances are as they were', () => {
    expect(outcome(found(undefined, { a: [4, 1], b: [0, 0] }), false)).toBe('rolled_back');
    expect(outcome(found(undefined, { a: [4, 1] }), false)).toBe('unknown');
    expect(outcome(found(undefined, { a: [5, 2], b: [0, 0] }), false)).toBe('unknown');
  });

  it('is unknown if another process has taken the operation over', () => {
    expect(outcome(found(1, { a: [5, 3, true], b: [1, 2, true] }))).toBe('unknown');
  });
});

describe('C149: a write-back whose answer was lost, and which wrote nothing when it was repeated', () => {
  const versions = new Map([
    ['a', 5],
    ['b', 1],
  ]);
  const fences = new Map([
    ['a', 2],
    ['b', 1],
  ]);
  const outcome = (operation: OperationFound, isLeaseHeld: boolean) =>
    outcomeOfWriteBack(operation, { versions, fences, isLeaseHeld });

  it('was written if nobody else held the instances since', () => {
    expect(outcome(found(undefined, { a: [6, 2], b: [2, 1] }), false)).toBe('written');
    expect(outcome(found(undefined, { a: [9, 2], b: [2, 1] }), false)).toBe('written'); // merged again since
  });

  it('was written if others held them since, but cannot have taken the operation over', () => {
    const held = found(undefined, { a: [8, 3], b: [2, 1] });
    expect(outcome(held, true)).toBe('written');
    expect(outcome(held, false)).toBe('unknown');
  });

  it('was not written if the operation was taken over', () => {
    expect(outcome(found(1, { a: [5, 3, true], b: [1, 2, true] }), false)).toBe('taken_over');
    expect(outcome(found(undefined, { a: [5, 3], b: [1, 2] }), false)).toBe('taken_over');
  });

  it('is unknown if an instance was deleted since', () => {
    expect(outcome(found(undefined, { a: [6, 2] }), true)).toBe('unknown');
  });
});
