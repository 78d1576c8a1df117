import {
  absentNames,
  askRow,
  findUnmatched,
  type MatrixAnswer,
  type MatrixCall,
  type MatrixWorld,
} from './visibility-matrix';

const HIDDEN = { 'thing.id': '6f1f5c7e-0f0e-4f0a-8d3e-2b0a9f6c4e21', 'thing.name': 'Hidden thing', 'seen.id': 'seen' };
const NONE = { status: 404, body: { error: 'There is no such thing.' } };
const FOUND = { status: 200, body: { name: 'Hidden thing' } };
const key = (name: string, userGroups?: string[]) => ({ key: name, userGroups });

/** A service with the given answers to keys that see the thing and keys that do not. */
const worldOf = (answer: (call: MatrixCall, sees: boolean) => MatrixAnswer, changed: string[] = []): MatrixWorld => ({
  ...{ workspaceId: 'w', hidden: HIDDEN, marker: 'hidden' },
  keys: { none: key('none', ['east']), part: key('part', ['north']), sees: key('sees', ['south']), all: key('all') },
  call: (call) => Promise.resolve(answer(call, ['sees', 'all'].includes(call.key))),
  watch: { text: '', findChanges: () => Promise.resolve({ changed, hidden: changed }) },
});
const isHidden = ({ path }: MatrixCall): boolean => path.includes('Hidden');
const ask = (world: MatrixWorld, row: object = {}) => askRow('get', { path: '/things/{thing.name}', ...row }, world);

describe('askRow', () => {
  it('reports nothing if hidden things look absent, and visible ones are found', async () => {
    expect(await ask(worldOf((_, sees) => (sees ? FOUND : NONE)))).toEqual([]);
  });

  it.each<[string, MatrixWorld, string[]]>([
    ['another status', worldOf((call, sees) => (sees ? FOUND : isHidden(call) ? { ...NONE, status: 403 } : NONE)), ['none: a hidden thing', 'part: a hidden thing']],
    ['hidden text in an answer', worldOf((_, sees) => (sees ? FOUND : { status: 200, body: 'HIDDEN!' })), ['none: something hidden', 'part: something hidden']],
    ['no success for those who see it', worldOf(() => NONE), ['sees: success', 'sees: is answered as', 'all: success', 'all: is answered as']],
    ['the same answer for all', worldOf(() => ({ status: 200, body: [] })), ['sees: is answered as', 'all: is answered as']],
    ['a refusal that changes rows', worldOf((_, sees) => (sees ? FOUND : NONE), ['rules 1']), ['none: refused, and changed rules 1', 'none: changed what is hidden', 'part: refused, and changed rules 1', 'part: changed what is hidden']],
  ])('finds %s', async (_, world, faults) => {
    const found = await ask(world);
    expect(found).toHaveLength(faults.length);
    faults.forEach((fault, index) => expect(found[index]).toContain(fault));
  }); // prettier-ignore
});

it('findUnmatched names operations without a row, and rows without an operation', () => {
  const row = { path: '/' };
  expect(findUnmatched([{ id: 'a' }, { id: 'b' }, { id: 'c' }], { a: [row], b: [], d: [row] })).toEqual([
    'b',
    'c',
    'd',
  ]);
});

it('absentNames keeps lengths and kinds, and takes no name without the marker', () => {
  const absent = absentNames(HIDDEN, 'hidden');
  expect(absent).toMatchObject({ 'thing.name': 'absent thing', 'seen.id': 'seen' });
  expect(absent['thing.id']).toMatch(/^0{8}-0000-4000-8000-0{12}$/);
  expect(() => absentNames({ 'thing.name': 'other' }, 'hidden')).toThrow('has no "hidden" in it');
});
