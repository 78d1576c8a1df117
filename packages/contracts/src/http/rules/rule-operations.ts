import { RuleDocument } from '../../rules/rule-document';
import { type Operation } from '../operation';
import { importRuleExample, listedRuleExample, ruleDocumentExample } from './rule-examples';
import { DiffRuleQuery, ListRuleVersionsQuery, RuleDiff, RuleVersionPage } from './rule-versions';
import {
  DeleteRuleRequest,
  ExportRuleQuery,
  ImportRuleRequest,
  ListRulesAnswer,
  ListRulesQuery,
  Message,
} from './rules';

const shared = { service: 'objects-api', tag: 'Rules', pathParameters: [] } as const;

export const listRules = {
  ...shared,
  id: 'listRules',
  method: 'get',
  path: '/api/v1/admin/rules/list',
  summary: 'List rules',
  description: 'A bare array where neither `limit` nor `cursor` is given, else one page.',
  entitlement: 'rules.read',
  query: ListRulesQuery,
  success: {
    status: 200,
    description: 'The rules that the key may see.',
    schema: ListRulesAnswer,
    example: [listedRuleExample],
  },
  errors: ['rule_not_found', 'rule_not_published', 'version_not_found', 'environment_not_found'],
} as const satisfies Operation;

export const exportRule = {
  ...shared,
  id: 'exportRule',
  method: 'get',
  path: '/api/v1/admin/rules/export',
  summary: 'Export a rule',
  description: 'The draft with everything that an import takes. Imported again unchanged, it changes nothing.',
  entitlement: 'rules.read',
  query: ExportRuleQuery,
  success: {
    status: 200,
    description: 'The rule document, as it can be imported. The header `etag` names this state of the draft.',
    schema: RuleDocument,
    example: ruleDocumentExample,
  },
  errors: ['rule_not_found'],
} as const satisfies Operation;

export const importRule = {
  ...shared,
  id: 'importRule',
  method: 'post',
  path: '/api/v1/admin/rules/import',
  summary: 'Create or change a rule, publish or unpublish it',
  description:
    'A known `id` makes a partial update, an unknown one creates the rule under that id, none makes id and slug. ' +
    '`_publish: true` freezes the draft as the next version, where `settings.testing` is `continuous` only if no critical test fails; `_unpublish: true` takes the rule out of service, unless a ' +
    'release of it waits or is live.',
  entitlement: 'rules.write',
  body: { schema: ImportRuleRequest, large: true, description: 'The rule.', example: importRuleExample },
  success: {
    status: 200,
    description: 'The rule as it is now stored.',
    schema: RuleDocument,
    example: ruleDocumentExample,
  },
  errors: [
    'rule_invalid',
    'slug_taken',
    'rule_released',
    'tests_failed',
    'deadline_exceeded',
    'rule_stale',
    'rule_not_found',
  ],
} as const satisfies Operation;

export const deleteRule = {
  ...shared,
  id: 'deleteRule',
  method: 'delete',
  path: '/api/v1/admin/rules/delete',
  summary: 'Delete a rule with all its versions',
  description: 'Refused while a release of the rule waits or is live.',
  entitlement: 'rules.write',
  body: { schema: DeleteRuleRequest, description: 'Which rule.', example: { id: ruleDocumentExample.id } },
  success: {
    status: 200,
    description: 'The rule was deleted and is no longer solved.',
    schema: Message,
    example: { message: 'Rule "parcel-price" was deleted.' },
  },
  errors: ['rule_not_found', 'rule_released', 'rule_bound'],
} as const satisfies Operation;

const slug = { name: 'slug', description: "The rule's slug.", example: 'parcel-price' };

export const listRuleVersions = {
  ...shared,
  id: 'listRuleVersions',
  method: 'get',
  path: '/api/v1/admin/rules/{slug}/versions',
  pathParameters: [slug],
  summary: 'List the published versions of a rule',
  description: 'A version is made by publishing and never changes. `in_service` marks the one that `latest` solves.',
  entitlement: 'rules.read',
  query: ListRuleVersionsQuery,
  success: {
    status: 200,
    description: 'Versions, newest first.',
    schema: RuleVersionPage,
    example: {
      data: [
        {
          version: 1,
          version_id: 'a3f1a1de-6a0f-4b53-9a44-0b5a3c4de955',
          published_at: '2026-01-15T09:30:00.000Z',
          published_by: null,
          in_service: true,
        },
      ],
      next_cursor: null,
    },
  },
  errors: ['rule_not_found'],
} as const satisfies Operation;

export const publishRuleVersion = {
  ...shared,
  id: 'publishRuleVersion',
  method: 'post',
  path: '/api/v1/admin/rules/{slug}/versions/{version}/publish',
  pathParameters: [slug, { name: 'version', description: 'Number of a published version.', example: '1' }],
  summary: 'Roll back: publish an earlier version again',
  description:
    'Its content becomes the next version; the draft stays as it is. Where what is in service has that content already, nothing happens. Its ' +
    'tests are not run: it has been published before. It is refused where the context that the rule is bound to could not take what it writes.',
  entitlement: 'rules.write',
  success: {
    status: 200,
    description: 'The rule; `version` is the new one.',
    schema: RuleDocument,
    example: ruleDocumentExample,
  },
  errors: ['rule_not_found', 'version_not_found', 'rule_invalid'],
} as const satisfies Operation;

export const diffRule = {
  ...shared,
  id: 'diffRule',
  method: 'get',
  path: '/api/v1/admin/rules/{slug}/diff',
  pathParameters: [slug],
  summary: 'Compare two versions of a rule, or one with the draft',
  description:
    'Rows are recognised by their `id`, else by their content, else by their place between rows that are recognised.',
  entitlement: 'rules.read',
  query: DiffRuleQuery,
  success: {
    status: 200,
    description: 'What distinguishes them.',
    schema: RuleDiff,
    example: {
      rule: 'parcel-price',
      from: '1',
      to: 'draft',
      fields: [],
      rows: {
        added: [],
        removed: [],
        changed: [
          { from_row: 0, to_row: 0, changes: [{ path: 'response.price', from: { value: 4.9 }, to: { value: 5.2 } }] },
        ],
        moved: [],
        counts: { added: 0, removed: 0, changed: 1, moved: 0 },
      },
      other: [],
      equal: false,
      truncated: false,
    },
  },
  errors: ['rule_not_found', 'rule_not_published', 'version_not_found', 'environment_not_found'],
} as const satisfies Operation;

export const ruleOperations = [
  listRules,
  exportRule,
  importRule,
  deleteRule,
  listRuleVersions,
  publishRuleVersion,
  diffRule,
];
