export * from './cache-keys';
export * from './entitlements';
export * from './error-codes';
export * from './json/field-reader';
export * from './json/parse-json';
export * from './json/json-scanner';
export * from './limits';
export { type Claims, claimAt, evaluateMapping, SsoRoleMapping } from './people/sso-role-mapping';
export * from './service-error';
export * from './slug';
export * from './stored-api-key';
export * from './topics';
export * from './validator';
export * from './asset-pointer';
export { recordName } from './described-fields';
export * from './resource';
export * from './value-revision';
export * from './rules/logging-settings';
export * from './rules/rule-table';
export {
  type AssetFields,
  assetFacts,
  type DraftField,
  type DraftFields,
  emptyDraft,
  givenDraft,
  type ListedDraft,
  recordNames,
} from './rules/asset-fields';
export { type RuleDraft, ruleFields } from './rules/rule-fields';
export * from './rules/rule-document';
export { ListedField } from './rules/listed-field';
export * from './flows/flow-document';
export * from './flows/flow-definition';
export * from './flows/flow-fields';
export * from './rules/field-source';
export * from './messages/headers';
export * from './messages/solution-request.v1';
export * from './messages/solution-chunk.v1';
export * from './messages/solution-response.v1';
export * from './messages/cache-invalidation.v1';
export * from './messages/decision-log.v1';
export * from './messages/decision-log.v2';
export * from './http/error-body';
export * from './http/operation';
export * from './http/rules/rules';
export * from './http/rules/rule-drift';
export * from './http/access/keys';
export * from './http/values/objects';
export * from './http/values/object-operations';
export * from './http/values/values';
export * from './http/releases/releases';
export * from './http/releases/release-operations';
export * from './http/rules/rule-tests';
export {
  DiffRuleQuery,
  ListRuleVersionsQuery,
  RuleDiff,
  RuleVersion,
  RuleVersionPage,
} from './http/rules/rule-versions';
export * from './http/rules/rule-test-operations';
export * from './http/values/value-operations';
export * from './http/operator-operations';
export * from './http/rules/rule-operations';
export * from './http/flows/flows';
export * from './http/flows/flow-operations';
export * from './http/flows/flow-tests';
export * from './http/flows/flow-test-operations';
export * from './http/flows/flow-versions';
export * from './http/scale';
export { type DecisionLogEntry } from './http/decision-log-entry';
export * from './http/decisions';
export * from './http/solve-operations';
export * from './http/operations';
export * from './http/ingress-routes';
export * from './http/openapi';
export * from './contexts/context-words';
export * from './contexts/context-schema';
export * from './settings';
export * from './contexts/context-settings';
export * from './contexts/context-answers';
export * from './contexts/packed-executions';
export * from './http/access/audit';
export * from './http/folders';
export * from './http/access/users';
export * from './http/access/user-operations';
export * from './http/access/roles';
export * from './http/access/usage';
export {
  getSsoMapping,
  type SavedMappingAnswer,
  saveSsoMapping,
  type SaveSsoMappingRequest,
  type TriedMapping,
} from './http/people/sso-mapping';
export {
  createResetLink,
  removeSecondFactor,
  type ListedSession,
  type ListedSignIn,
  listSessions,
  listSignIns,
  revokeSession,
  revokeUserSessions,
} from './http/people/session-operations';
export { type Branding, getBranding } from './http/people/branding';
export {
  checkRequest,
  getPassthroughClaims,
  type PassthroughClaims,
  type ProvisionAnswer,
  type ProvisionRequest,
  provisionSso,
} from './http/people/person-operations';
export { page } from './http/people/page';
export * from './http/system';
export * from './contexts/context-definitions';
export * from './contexts/instance-answers';
export * from './http/contexts/context-operations';
export * from './http/contexts/instance-operations';
export * from './messages/settle.v1';
