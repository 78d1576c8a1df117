import { type FunctionContent, type ValueRecord } from '@decision/contracts';
import { findValueUses, type Transaction } from '@decision/persistence';
import { type ValueContent } from './read-values';
import { inUse } from './value-answers';

/** Rules that use a value were checked against its type, and calls of a function against its parameters. */
export const requireSameShape = async (
  transaction: Transaction,
  existing: readonly ValueRecord[],
  wantedFor: (value: ValueRecord) => ValueContent | undefined,
): Promise<void> => {
  const changed = existing.filter((value) => {
    const wanted = wantedFor(value);
    return wanted !== undefined && shapeOf(wanted) !== shapeOf({ type: value.type, value: value.content });
  });
  const uses = await findValueUses(transaction, changed.map(({ id }) => id)); // prettier-ignore
  const broken = changed.find(({ id }) => uses.some(({ valueId }) => valueId === id));
  if (broken === undefined) return;
  const wanted = wantedFor(broken);
  const was = shapeOf({ type: broken.type, value: broken.content });
  const what = `The value "${broken.name}" is a ${was} and cannot become a ${wanted ? shapeOf(wanted) : was}`;
  const usesOfBroken = uses.filter(({ valueId }) => valueId === broken.id);
  throw inUse(what, usesOfBroken);
};

/** Shape of a value on which rules rely. */
export const shapeOf = ({ type, value }: ValueContent): string =>
  type === 'function' ? `function of ${(value as FunctionContent).parameters.length} parameters` : type; // guaranteed by its type
