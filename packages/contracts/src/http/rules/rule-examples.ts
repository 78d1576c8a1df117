import { assetFacts, documentExample, listedExample } from '../../rules/asset-fields';
import { ruleFields } from '../../rules/rule-fields';

/** Example bodies of the rule calls; a test checks each against its schema. */
const { id, slug, ...facts } = documentExample(assetFacts);
const draft = documentExample(ruleFields);

export const ruleDocumentExample = { id, slug, ...draft, published: true, ...facts };

const { name, requestSchema, responseSchema, conditions } = draft;
export const importRuleExample = { rule: { name, slug, requestSchema, responseSchema, conditions, _publish: true } };

export const listedRuleExample = {
  ...listedExample({ ...assetFacts, ...ruleFields }),
  published: true,
  no_conditions: 1,
};
