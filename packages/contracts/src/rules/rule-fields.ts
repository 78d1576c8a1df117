import {
  attachedFields,
  descriptiveFields,
  type DraftFields,
  type DraftRecord,
  listedFields,
  nameField,
} from './asset-fields';
import { tableFields } from './rule-table';

/**
 * The draft of a rule. A new part needs a column of the same name that the runtime role may read, insert and update; a part that determines
 * answers also belongs to the table that the engine compiles.
 */
export const ruleFields = {
  name: nameField('Untitled rule', 'Parcel price'),
  ...descriptiveFields,
  request_schema: {
    schema: tableFields.requestSchema,
    listed: listedFields('Inputs.'),
    empty: [],
    example: [{ key: 'weight', name: 'Weight', type: 'number' }],
    listedExample: [{ key: 'weight', show: true, name: 'Weight', description: null, type: 'number' }],
    kept: 'definition',
  },
  response_schema: {
    schema: tableFields.responseSchema,
    listed: listedFields('Outputs.'),
    empty: [],
    example: [{ key: 'price', name: 'Price', type: 'number' }],
    listedExample: [{ key: 'price', show: true, name: 'Price', description: null, type: 'number' }],
    kept: 'definition',
  },
  conditions: {
    schema: tableFields.conditions,
    empty: [],
    example: [
      {
        request: { weight: { op: 'less than or equal to', args: [2] } },
        response: { price: { value: 4.9 } },
        settings: { enabled: true },
      },
    ],
    kept: 'definition',
  },
  groups: { schema: tableFields.groups, empty: {}, example: {}, kept: 'definition' },
  settings: { schema: tableFields.settings, empty: {}, example: {}, kept: 'definition' },
  ...attachedFields,
} as const satisfies DraftFields;

export type RuleDraft = DraftRecord<typeof ruleFields>;
