import { type Static, Type } from '@sinclair/typebox';
import {
  answerExample,
  answerSchemas,
  type GivenOf,
  type RecordOf,
  requestSchemas,
  type ResourceFields,
  toAnswer,
  toAudited,
  toGiven,
  toShown,
} from './resource';

const fields = {
  id: { schema: Type.String(), example: 'c-1' },
  display_name: { schema: Type.String(), request: Type.String({ minLength: 1 }), example: 'Cedar' },
  tree_rings: { schema: Type.Integer(), request: Type.Integer({ minimum: 0 }), whenAbsent: 7, example: 80 },
  planted_by: { schema: Type.String(), example: 'k-1', answered: false },
  last_seen_at: { schema: Type.String(), example: '2026-01-15T09:30:00.000Z', audited: false },
} as const satisfies ResourceFields;

const record: RecordOf<typeof fields> = {
  id: 'c-2',
  displayName: 'Larch',
  treeRings: 3,
  plantedBy: 'k-2',
  lastSeenAt: '2026-02-01T00:00:00.000Z',
};

describe('a described resource', () => {
  it('has answers with the fields that they show, under the names of the columns', () => {
    const Answer = Type.Object(answerSchemas(fields));
    const answer: Static<typeof Answer> = toAnswer(fields, record);
    expect(answer).toEqual({
      id: 'c-2',
      display_name: 'Larch',
      tree_rings: 3,
      last_seen_at: '2026-02-01T00:00:00.000Z',
    });
    expect(Object.keys(Answer.properties)).toEqual(Object.keys(answer));
    expect(Object.keys(answerExample(fields))).toEqual(Object.keys(answer));
  });

  it('has requests with the fields that callers give, optional if they have a value for their absence', () => {
    const request = Type.Object(requestSchemas(fields));
    expect(Object.keys(request.properties)).toEqual(['display_name', 'tree_rings']);
    expect(request.required).toEqual(['display_name']);
  });

  it('takes what a request gives, and the values of what it leaves out', () => {
    const given: GivenOf<typeof fields> = toGiven(fields, { display_name: 'Yew' });
    expect(given).toEqual({ displayName: 'Yew', treeRings: 7 });
    expect(toGiven(fields, { display_name: 'Yew', tree_rings: 0 })).toEqual({ displayName: 'Yew', treeRings: 0 });
  });

  it('shows the audit all fields but those that are no change', () => {
    expect(JSON.parse(JSON.stringify(toAudited(fields, record)))).toEqual({
      id: 'c-2',
      displayName: 'Larch',
      treeRings: 3,
      plantedBy: 'k-2',
    });
  });

  it('is answered under another name where it says so', () => {
    const renamed = { tree_rings: { ...fields.tree_rings, answeredAs: 'rings' } } as const;
    expect(Object.keys(answerSchemas(renamed))).toEqual(['rings']);
    expect(answerExample(renamed)).toEqual({ rings: 80 });
    expect(toAnswer(renamed, record)).toEqual({ rings: 3 });
  });

  it('is shown as a schema says: its members in its order, without what is undefined or not in it', () => {
    const Shown = Type.Object({
      tree_rings: Type.Integer(),
      id: Type.String(),
      felled_at: Type.Optional(Type.String()),
    });
    const shown: Static<typeof Shown> = toShown(Shown, record);
    expect(Object.entries(shown)).toEqual([
      ['tree_rings', 3],
      ['id', 'c-2'],
    ]);
  });
});
