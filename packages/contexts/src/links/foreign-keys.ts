import { type ContextWorld, holderOf } from '../definitions/context-definition';
import { type Facts, valueOf } from '../facts/facts';
import { linkedInstance } from '../facts/instance-id';

/** The facts of a context that name instances of others, in the order of their relationships. */
export const foreignKeysOf = (contextId: string, { relationships }: ContextWorld): readonly string[] => [
  ...new Set(
    relationships
      .filter((relationship) => holderOf(relationship) === contextId)
      .map(({ foreignKeyFact }) => foreignKeyFact),
  ),
];

/** Which instance each foreign key of an instance names (C110); those that name none are left out. */
export const linksOf = (foreignKeys: readonly string[], facts: Facts): ReadonlyMap<string, string> => {
  const links = new Map<string, string>();
  for (const fact of foreignKeys) {
    const target = linkedInstance(valueOf(facts, fact));
    if (target !== undefined) links.set(fact, target);
  }
  return links;
};
