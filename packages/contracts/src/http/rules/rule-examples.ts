/** Example bodies of the rule calls; a test checks each against its schema. */
const requestSchema = [{ key: 'weight', name: 'Weight', type: 'number' as const }];
const responseSchema = [{ key: 'price', name: 'Price', type: 'number' as const }];
const conditions = [
  {
    request: { weight: { op: 'less than or equal to', args: [2] } },
    response: { price: { value: 4.9 } },
    settings: { enabled: true },
  },
];

export const importRuleExample = {
  rule: { name: 'Parcel price', slug: 'parcel-price', requestSchema, responseSchema, conditions, _publish: true },
};

export const ruleDocumentExample = {
  id: '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11',
  slug: 'parcel-price',
  name: 'Parcel price',
  description: null,
  labels: [],
  folder: null,
  requestSchema,
  responseSchema,
  conditions,
  groups: {},
  settings: {},
  testSuite: [],
  sampleRequest: null,
  sampleResponse: null,
  testRequest: null,
  metadata: {},
  context: null,
  published: true,
  publishedAt: '2026-01-15T09:30:00.000Z',
  version: 1,
  createdAt: '2026-01-15T09:30:00.000Z',
  updatedAt: '2026-01-15T09:30:00.000Z',
  updatedBy: null,
};

export const listedRuleExample = {
  id: ruleDocumentExample.id,
  name: 'Parcel price',
  description: null,
  slug: 'parcel-price',
  created_at: '2026-01-15T09:30:00.000Z',
  updated_at: '2026-01-15T09:30:00.000Z',
  labels: [],
  published: true,
  version: 1,
  no_conditions: 1,
  metadata: {},
  user_groups: [],
  request_schema: [{ key: 'weight', show: true, name: 'Weight', description: null, type: 'number' }],
  response_schema: [{ key: 'price', show: true, name: 'Price', description: null, type: 'number' }],
};
