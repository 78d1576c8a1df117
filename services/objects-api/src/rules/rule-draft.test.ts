import { draftChanges, newDraft, slugOf } from './rule-draft';

it.each([
  ['Shipping price', 'shipping-price'],
  ['  Ünïcode & Größe!  ', 'unicode-gro-e'],
  ['日本', 'rule'],
  ['', 'rule'],
  ['a'.repeat(200), 'a'.repeat(80)],
  [`${'a'.repeat(79)} b`, 'a'.repeat(79)],
  ['--x--', 'x'],
])('the slug of %j is %j', (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

it('takes only the fields of a draft from an import, and only those that are given', () => {
  const imported = { name: 'n', description: null, history: [], published: true, createdAt: 'x' } as never;
  expect(draftChanges(imported)).toEqual({ name: 'n', description: null });
  expect(newDraft({})).toMatchObject({ name: 'Untitled rule', conditions: [], metadata: {} });
});
