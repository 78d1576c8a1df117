import { type ListedRule, type RuleDocument } from '@decision/contracts';
import { type RuleRecord, type RuleSummary } from '@decision/persistence';
import { toListedAsset, toListedFields } from '../assets/list-assets';

/** A stored rule as its export shows it. */
export const toDocument = (rule: RuleRecord): RuleDocument => ({
  id: rule.id,
  slug: rule.slug,
  name: rule.name,
  description: rule.description,
  labels: [...rule.labels],
  folder: rule.folder,
  requestSchema: [...rule.requestSchema],
  responseSchema: [...rule.responseSchema],
  conditions: [...rule.conditions],
  groups: rule.groups,
  settings: rule.settings,
  testSuite: [...rule.testSuite],
  sampleRequest: rule.sampleRequest,
  sampleResponse: rule.sampleResponse,
  testRequest: rule.testRequest,
  metadata: rule.metadata,
  context: rule.context,
  published: rule.publishedVersion !== null,
  publishedAt: rule.publishedAt,
  version: rule.publishedVersion,
  createdAt: rule.createdAt,
  updatedAt: rule.updatedAt,
  updatedBy: rule.updatedBy,
});

/** A stored rule as lists show it: without rows, in snake case. */
export const toListed = (rule: RuleSummary): ListedRule => ({
  ...toListedAsset(rule),
  no_conditions: rule.rowCount,
  response_schema: toListedFields(rule.responseSchema),
});
