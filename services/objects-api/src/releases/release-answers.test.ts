import { standsFor, waitingFor } from './release-answers';

const approvals = (...stands: string[][]) =>
  stands.map((names, index) => ({
    approvedBy: `by-${index}`,
    standsFor: names,
    approvedAt: '2026-01-01T00:00:00.000Z',
  }));

it.each([
  ['any', [], [], []],
  ['all', [], [], []],
  ['any', ['a', 'b'], [], ['a', 'b']],
  ['any', ['a', 'b'], [['b']], []],
  ['all', ['a', 'b'], [], ['a', 'b']],
  ['all', ['a', 'b'], [['b']], ['a']],
  ['all', ['a', 'b'], [['b'], ['b']], ['a']],
  ['all', ['a', 'b'], [['b'], ['a']], []],
  ['all', ['a', 'b'], [['a', 'b']], []],
] as const)(
  'with the scheme %s, the approvers %j and the approvals %j waits for %j',
  (scheme, approvers, given, waits) => {
    const agreed = approvals(...given.map((names) => [...names]));
    expect(waitingFor({ approvers, approvalScheme: scheme, approvals: agreed })).toEqual(waits);
  },
);

it('lets a key stand for itself and for its role, and for nobody else', () => {
  const approvers = ['role:admin', 'key:1', 'key:2', 'role:1', 'admin', 'role:administrator'];
  expect(standsFor(approvers, { keyIds: ['1'], role: 'admin' })).toEqual(['role:admin', 'key:1']);
  expect(standsFor(approvers, { keyIds: ['3'], role: 'viewer' })).toEqual([]);
  expect(standsFor(approvers, { keyIds: ['3', '2'], role: 'viewer' })).toEqual(['key:2']);
});
