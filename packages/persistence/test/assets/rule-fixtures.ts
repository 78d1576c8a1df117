import { randomUUID } from 'node:crypto';
import { apiKeyFields, type FlowUse, type ParsedField, type RuleRow, toGiven } from '@decision/contracts';
import { type NewApiKey, type NewAsset } from '../../src';

/** An id that nothing has. */
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** A text that was read from the content of an object. */
export const parsedField = (key: string): ParsedField => ({
  ...{ key, name: key, description: null, type: 'string', scope: 'root', required: false },
  schemaPath: `/${key}`,
});

/** A rule ready to insert: unique id and slug, one row. */
export const newRule = (parts: Partial<NewAsset<'rule'>> = {}): NewAsset<'rule'> => {
  const id = randomUUID();
  return {
    id,
    slug: `rule-${id.slice(0, 8)}`,
    name: 'Parcel price',
    description: null,
    labels: [],
    userGroups: [],
    folder: null,
    requestSchema: [{ key: 'weight', name: 'Weight', type: 'number' }],
    responseSchema: [{ key: 'price', name: 'Price', type: 'number' }],
    conditions: [priceRow(2, 4.9)],
    groups: {},
    settings: {},
    testSuite: [],
    sampleRequest: null,
    sampleResponse: null,
    testRequest: null,
    metadata: {},
    context: null,
    ...parts,
  };
};

/** A flow ready to insert: unique id and slug, an origin and a result. */
export const newFlow = (parts: Partial<NewAsset<'flow'>> = {}): NewAsset<'flow'> => {
  const { conditions: _rows, groups: _groups, ...rule } = newRule();
  return {
    ...rule,
    slug: `flow-${rule.id.slice(0, 8)}`,
    name: 'Parcel offer',
    graph: {
      nodes: [
        { ref: 'in', type: 'origin', rule: 'parcel' },
        { ref: 'out', type: 'result' },
      ],
      connections: [{ from: 'in', to: 'out', output: 'price', input: 'price' }],
    },
    settings: {},
    ...parts,
  };
};

/** Content of a version of {@link newFlow} beyond the draft. */
export const resolved = (...uses: readonly FlowUse[]) => ({
  requestSchema: newRule().requestSchema,
  responseSchema: [{ key: 'price', type: 'number' as const }],
  uses: [...uses],
  reachesOut: false,
});

export const priceRow = (weight: number, price: number): RuleRow => ({
  request: { weight: { op: 'less than or equal to', args: [weight] } },
  response: { price: { value: price } },
  settings: { enabled: true },
});

/** A key ready to store: unique selector, role `developer`, never expires. */
export const newApiKey = (parts: Partial<NewApiKey> = {}): NewApiKey => ({
  selector: randomUUID().replaceAll('-', ''),
  secretHash: 'ab'.repeat(32),
  ...toGiven(apiKeyFields, { name: 'CI' }),
  ...parts,
});
