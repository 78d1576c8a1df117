import { draftChanges, newDraft } from './rule-draft';

it('takes only the fields of a draft from an import, and only those that are given', () => {
  const imported = { name: 'n', description: null, history: [], published: true, createdAt: 'x' } as never;
  expect(draftChanges(imported)).toEqual({ name: 'n', description: null });
  expect(newDraft({})).toMatchObject({ name: 'Untitled rule', conditions: [], metadata: {} });
});
