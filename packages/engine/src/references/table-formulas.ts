import { type RuleTable } from '@decision/contracts';

/** Every formula of a table, each once. */
export const formulasOf = ({
  requestSchema,
  responseSchema,
  conditions,
  groups = {},
}: RuleTable): ReadonlySet<string> => {
  const texts = new Set<string>();
  const add = (text: unknown): void => {
    if (typeof text === 'string' && text !== '') texts.add(text);
  };
  for (const { defaultComputedValue } of [...requestSchema, ...responseSchema]) add(defaultComputedValue);
  for (const { accumulators = {} } of Object.values(groups)) Object.values(accumulators).forEach(add);
  const columns = responseSchema.filter(({ type }) => type === 'function').map(({ key }) => key);
  for (const { response = {} } of columns.length > 0 ? conditions : [])
    for (const key of columns) if (Object.hasOwn(response, key)) add(response[key]?.value);
  return texts;
};
