import { type Static, Type } from '@sinclair/typebox';
import {
  documentExample,
  documentSchemas,
  type DraftFields,
  type DraftRecord,
  emptyDraft,
  givenDraft,
  importSchemas,
  listedExample,
  listedSchemas,
  recordNames,
} from './asset-fields';

const fields = {
  name: { schema: Type.String(), listed: Type.String(), empty: 'Untitled', example: 'Cedar', kept: 'details' },
  tree_rings: { schema: Type.Integer(), empty: 0, example: 80, kept: 'definition' },
  planted_in: {
    schema: Type.Unknown(),
    listed: Type.Optional(Type.String()),
    empty: null,
    example: null,
    listedExample: undefined,
    kept: 'details',
  },
  hidden_roots: { schema: Type.Array(Type.String()), documented: false, empty: [], example: [], kept: 'definition' },
} as const satisfies DraftFields;

describe('the described draft of a rule or flow', () => {
  it('has documents in camel case, without the fields that are not documented', () => {
    const Document = Type.Object(documentSchemas(fields));
    const example: Static<typeof Document> = documentExample(fields);
    expect(example).toEqual({ name: 'Cedar', treeRings: 80, plantedIn: null });
    expect(Document.required).toEqual(['name', 'treeRings', 'plantedIn']);
  });

  it('has imports that may leave out each part', () => {
    const Import = Type.Object(importSchemas(fields));
    expect(Object.keys(Import.properties)).toEqual(['name', 'treeRings', 'plantedIn']);
    expect(Import.required).toBeUndefined();
  });

  it('has lists under the names of the columns, of the fields that they show', () => {
    expect(Object.keys(listedSchemas(fields))).toEqual(['name', 'planted_in']);
    expect(listedExample(fields)).toEqual({ name: 'Cedar' });
  });

  it('is made of what an import gives, and else of nothing', () => {
    const empty: DraftRecord<typeof fields> = emptyDraft(fields);
    expect(empty).toEqual({ name: 'Untitled', treeRings: 0, plantedIn: null, hiddenRoots: [] });
    const imported = { name: 'Larch', plantedIn: null, hiddenRoots: ['x'], history: [], published: true };
    expect(givenDraft(fields, imported)).toEqual({ name: 'Larch', plantedIn: null });
    expect(recordNames(fields)).toEqual(['name', 'treeRings', 'plantedIn', 'hiddenRoots']);
  });
});
