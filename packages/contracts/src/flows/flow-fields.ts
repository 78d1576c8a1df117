import { Type } from '@sinclair/typebox';
import {
  attachedFields,
  descriptiveFields,
  type DraftFields,
  type DraftRecord,
  listedFields,
  nameField,
} from '../rules/asset-fields';
import { type RuleDraft, ruleFields } from '../rules/rule-fields';
import { RuleField } from '../rules/rule-table';
import { FlowField, FlowSettings } from './flow-definition';
import { FlowGraph } from './flow-document';

/** The draft of a flow. A new part needs a column of the same name that the runtime role may read, insert and update. */
export const flowFields = {
  name: nameField('Untitled flow', 'Parcel quote'),
  ...descriptiveFields,
  /** The inputs of its origin node. */
  request_schema: {
    schema: Type.Array(RuleField),
    documented: false,
    listed: listedFields('Inputs.'),
    empty: [],
    example: [],
    listedExample: [{ key: 'weight', show: true, name: 'Weight', description: null, type: 'number' }],
    kept: 'definition',
  },
  /** The fields that its result nodes answer. */
  response_schema: { schema: Type.Array(FlowField), documented: false, empty: [], example: [], kept: 'definition' },
  /** In the canonical form. In documents its nodes and connections are separate fields. */
  graph: {
    schema: Type.Unsafe<Required<FlowGraph>>(FlowGraph),
    documented: false,
    empty: { nodes: [], connections: [] },
    example: {
      nodes: [
        { ref: 'parcel', type: 'origin', rule: 'parcel-price' },
        { ref: 'answer', type: 'result' },
      ],
      connections: [{ from: 'parcel', output: 'price', to: 'answer' }],
    },
    kept: 'definition',
  },
  settings: { schema: FlowSettings, empty: {}, example: {}, kept: 'definition' },
  ...attachedFields,
} as const satisfies DraftFields;

export type FlowDraft = DraftRecord<typeof flowFields>;

/** The fields of drafts, by kind. */
export const draftFields = { rule: ruleFields, flow: flowFields } as const;

/** Draft of an asset of a kind. */
export interface DraftOf {
  readonly rule: RuleDraft;
  readonly flow: FlowDraft;
}
