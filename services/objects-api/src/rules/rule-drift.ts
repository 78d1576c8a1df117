import { type RuleDrift, type RuleField } from '@decision/contracts';
import { type ArchivedUse, findArchivedUses, type RuleSummary, type Transaction } from '@decision/persistence';
import { loadSources, sourceField, sourceOf, type SourceObjects } from './field-sources';

type Schemas = Pick<RuleSummary, 'id' | 'requestSchema' | 'responseSchema'>;
type Side = 'request' | 'response';

/** Drift between the drafts of these rules and the objects that their fields come from, by rule. */
export const findDrift = async (
  transaction: Transaction,
  rules: readonly Schemas[],
): Promise<ReadonlyMap<string, RuleDrift[]>> => {
  const objects = await loadSources(
    transaction,
    rules.flatMap(({ requestSchema, responseSchema }) => [...requestSchema, ...responseSchema]),
  );
  const uses = await findArchivedUses(transaction, rules.map(({ id }) => id)); // prettier-ignore
  const usesByRule = new Map<string, ArchivedUse[]>();
  for (const use of uses) usesByRule.set(use.ruleId, [...(usesByRule.get(use.ruleId) ?? []), use]);
  return new Map(rules.map((rule) => [rule.id, driftOf(rule, objects, usesByRule.get(rule.id) ?? [])]));
};

/** The drift of one rule: its fields in their order, then values by name. */
export const driftOf = (
  { requestSchema, responseSchema }: Omit<Schemas, 'id'>,
  objects: SourceObjects,
  archived: readonly ArchivedUse[],
): RuleDrift[] => [
  ...requestSchema.flatMap((field) => fieldDrift('request', field, objects)),
  ...responseSchema.flatMap((field) => fieldDrift('response', field, objects)),
  ...archived.map(valueDrift),
];

const fieldDrift = (side: Side, rule: RuleField, objects: SourceObjects): readonly RuleDrift[] => {
  const source = sourceOf(rule);
  if (source === undefined) return [];
  const field = sourceField(rule, source);
  const place = { side, key: rule.key, field };
  const object = objects.find(source);
  if (object === undefined) {
    const name = source.name ?? source.object;
    const message = `The object "${name}", from which "${rule.key}" comes, was deleted or is not visible to this key.`;
    return [{ kind: 'object_missing', message, ...place, object: { id: source.object, name } }];
  }
  const at = { ...place, object: { id: object.id, name: object.name } };
  const parsed = object.parsedFields.find(({ key }) => key.normalize('NFC') === field);
  if (parsed === undefined) {
    return [{ kind: 'field_missing', message: `The object "${object.name}" has no field "${field}" any more.`, ...at }];
  }
  // Formulas can answer any value.
  if (parsed.type === rule.type || rule.type === 'function') return [];
  const message = `The field "${field}" of the object "${object.name}" is of type ${parsed.type}; the rule expects ${rule.type}.`;
  return [{ kind: 'type_changed', message, ...at, rule_type: rule.type, object_type: parsed.type }];
};

const valueDrift = ({ valueId: id, name, object }: ArchivedUse): RuleDrift => ({
  kind: 'value_archived',
  message: `The rule uses the value "${name}", which ${object ? `the object "${object.name}" no longer has` : 'came from an object that was deleted'}.`,
  value: { id, name },
  ...(object && { object }),
});
