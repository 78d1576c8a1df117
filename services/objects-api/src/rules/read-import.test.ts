import { RuleField, RuleImport, RuleRow, RowSettings, RuleSettings } from '@decision/contracts';
import { ignoredFields, problemsOfImport } from './read-import';

const pathsOf = (imported: object): readonly string[] =>
  problemsOfImport(imported).map(({ path, message }) => `${path}: ${message}`);

/** The spellings of a name that other programs use. */
const variantsOf = (name: string): readonly string[] => {
  const words = name.replace(/^_/, '').split(/(?=[A-Z])|_/).map((word) => word.toLowerCase()); // prettier-ignore
  const spellings = [words.join('_'), words.join('-'), words.join(''), words.join('_').toUpperCase(), `_${name}`];
  return spellings.filter((spelling) => spelling !== name);
};

const levels: readonly (readonly [string, object, (object: object) => object])[] = [
  ['', RuleImport.properties, (object) => object],
  [
    '/requestSchema/0',
    RuleField.properties,
    (object) => ({ requestSchema: [{ key: 'a', type: 'number', ...object }] }),
  ],
  [
    '/responseSchema/0',
    RuleField.properties,
    (object) => ({ responseSchema: [{ key: 'a', type: 'number', ...object }] }),
  ],
  ['/conditions/1', RuleRow.properties, (object) => ({ conditions: [{}, object] })],
  ['/conditions/0/settings', RowSettings.properties, (settings) => ({ conditions: [{ settings }] })],
  ['/conditions/0/request/a~1b', { op: 1, args: 1 }, (cell) => ({ conditions: [{ request: { 'a/b': cell } }] })],
  ['/conditions/0/response/a', { value: 1 }, (a) => ({ conditions: [{ response: { a } }] })],
  ['/groups/g', { hitPolicy: 1, accumulators: 1 }, (g) => ({ groups: { g: { hitPolicy: 'fill', ...g } } })],
  ['/settings', RuleSettings.properties, (settings) => ({ settings })],
  ['/context', { slug: 1, version: 1 }, (context) => ({ context: { slug: 'orders', ...context } })],
  ['/folder', { id: 1, name: 1 }, (folder) => ({ folder })],
  ['/testSuite/0', { request: 1, response: 1, policy: 1, critical: 1 }, (test) => ({ testSuite: [test] })],
];

it.each(levels)(
  'refuses every other spelling of what is read at "%s", and names what was meant',
  (path, known, within) => {
    const names = Object.keys(known);
    for (const name of names)
      for (const variant of variantsOf(name)) {
        if (names.includes(variant)) continue;
        expect(pathsOf(within({ [variant]: 'x' }))).toContainEqual(
          `${path}/${variant}: "${variant}" would not be read; did you mean "${name}"?`,
        );
      }
  },
);

it.each([
  [{ publish: true }, '/publish'],
  [{ conditons: [] }, '/conditons'],
  [{ request_schema: [] }, '/request_schema'],
  [{ expected_updated_at: '2026-01-01T00:00:00Z' }, '/expected_updated_at'],
  [{ dry_run: true }, '/dry_run'],
  [{ rule: { name: 'Twice' } }, '/rule'],
  [{ environment: 'production' }, '/environment'],
  [{ version: 'lates' }, '/version'],
  [{ version: 0 }, '/version'],
  [{ context: 'orders' }, '/context'],
  [{ context: ['orders'] }, '/context'],
  [{ context: { id: '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11' } }, '/context'],
  [{ context: {} }, '/context'],
  [{ context: { slug: 'orders', version: 1.5 } }, '/context/version'],
  [{ context: { slug: 'orders', version: 'Latest' } }, '/context/version'],
  [{ context: { slug: 'orders', version: {} } }, '/context/version'],
  [{ folder: 7 }, '/folder'],
  [{ settings: { testing: 'continous' } }, '/settings/testing'],
  [{ testSuite: [{ policy: 'equals' }] }, '/testSuite/0/policy'],
  [{ testSuite: [{ critical: 'yes' }] }, '/testSuite/0/critical'],
  [{ testSuite: [{ request: 'a' }] }, '/testSuite/0/request'],
])('refuses %j', (imported, path) => {
  expect(problemsOfImport(imported as RuleImport)).toEqual([
    { code: 'misread', path, message: expect.stringMatching(/^.{20,}$/) },
  ]);
});

it.each([
  [{ createdAt: 'x', updatedAt: 'x', stable_id: 'x', history: [], published: true, publishedAt: null, version: null }],
  [
    {
      version: 3,
      updatedBy: 'x',
      published_requestSchema: [],
      published_groups: {},
      created_at: 'x',
      no_conditions: 2,
    },
  ],
  [{ context: { slug: 'orders', id: 'x', name: 'Orders', version: null } }],
  [{ context: { slug: 'orders', version: 'production' } }],
  [{ context: { slug: 'orders', version: 3 } }],
  [{ context: null, folder: null }],
  [{ folder: 'Pricing' }],
  [{ folder: { id: 'x', name: 'Pricing', description: null, type: 'rule', user_groups: [] } }],
  [{ editor: { zoom: 2 }, owner: 'logistics', level: 2, notes: 'x' }],
  [{ conditions: [{ request: { a: { op: 'any', ui: 1 } }, color: 'red' }] }],
  [{ metadata: { publish: true, request_schema: 1 }, sampleRequest: { publish: true } }],
  [{ testSuite: [{ id: '1', success: true, error: false, test_state: null, last_executed: null }] }],
])('takes %j, since clients send back what they were given and keep what is their own', (imported) => {
  expect(problemsOfImport(imported as RuleImport)).toEqual([]);
});

it('tells fields of which nothing is known, and not those that exports have', () => {
  const imported = { name: 'a', createdAt: 'x', history: [], editor: {}, owner: 'b' };
  expect(ignoredFields('rule', imported).map(({ field }) => field)).toEqual(['editor', 'owner']);
});

it('lists 100 problems at most, of a document that has any number of them', () => {
  const conditions = Array.from({ length: 50_000 }, (_, row) => ({ requests: {}, [`row${row}`]: 1 }));
  expect(problemsOfImport({ conditions } as RuleImport)).toHaveLength(100);
});
