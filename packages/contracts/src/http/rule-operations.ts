import { RuleDocument } from '../rules/rule-document';
import { type Operation } from './operation';
import { importRuleExample, listedRuleExample, ruleDocumentExample } from './rule-examples';
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
  errors: [],
} as const satisfies Operation;

export const exportRule = {
  ...shared,
  id: 'exportRule',
  method: 'get',
  path: '/api/v1/admin/rules/export',
  summary: 'Export a rule',
  entitlement: 'rules.read',
  query: ExportRuleQuery,
  success: {
    status: 200,
    description: 'The rule document, as it can be imported.',
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
  body: { schema: ImportRuleRequest, description: 'The rule.', example: importRuleExample },
  success: {
    status: 200,
    description: 'The rule as it is now stored.',
    schema: RuleDocument,
    example: ruleDocumentExample,
  },
  errors: ['rule_invalid', 'slug_taken', 'rule_released', 'tests_failed', 'deadline_exceeded'],
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
    description: 'The rule is gone and no longer solved.',
    schema: Message,
    example: { message: 'Rule "parcel-price" was deleted.' },
  },
  errors: ['rule_not_found', 'rule_released'],
} as const satisfies Operation;

export const ruleOperations = [listRules, exportRule, importRule, deleteRule];
