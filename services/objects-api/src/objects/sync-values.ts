import {
  findLeftValues,
  findManagedValues,
  findTakenNames,
  type ManagedValue,
  type TakenName,
  type Transaction,
  type ValueOwner,
  type ValuePlan,
  writeManagedValues,
} from '@decision/persistence';
import { keyText, type WantedValue } from './managed-values';
import { valueCollision } from './object-answers';
import { type FieldRename, planValues } from './plan-values';

/** Gives an object exactly the wanted values. The caller has changed the object, which locks it. Throws `value_collision`. */
export const syncValues = async (
  transaction: Transaction,
  owner: ValueOwner,
  wanted: readonly WantedValue[],
  rename: FieldRename | undefined,
): Promise<ValuePlan> => {
  const existing = await findManagedValues(transaction, owner.id, 'change');
  const first = planValues(existing, wanted, rename);
  const left = await findAdopted(transaction, first);
  const plan = left.length === 0 ? first : planValues([...existing, ...left], wanted, rename);
  await requireFreeNames(transaction, plan);
  const written = await writeManagedValues(transaction, owner, plan);
  // Another caller took a name after it was seen to be free.
  if (written.status === 'name_taken') throw valueCollision(await findCollisions(transaction, plan));
  return plan;
};

/** Values left behind by a deleted object with the same fields. */
const findAdopted = async (transaction: Transaction, { create }: ValuePlan): Promise<readonly ManagedValue[]> => {
  const names = new Map(create.map((value) => [keyText(value), value.name]));
  const left = await findLeftValues(transaction, [...names.values()], 'change');
  return left.filter((value) => names.get(keyText(value)) === value.name);
};

const requireFreeNames = async (transaction: Transaction, plan: ValuePlan): Promise<void> => {
  const collisions = await findCollisions(transaction, plan);
  if (collisions.length > 0) throw valueCollision(collisions);
};

/** Names that the plan needs and that belong to values that the plan neither changes nor releases. */
const findCollisions = async (
  transaction: Transaction,
  { create, change, release }: ValuePlan,
): Promise<readonly TakenName[]> => {
  const needed = [...create, ...change.filter(({ renamed }) => renamed)].map(({ name }) => name);
  const own = new Set([...change, ...release].map(({ id }) => id));
  return (await findTakenNames(transaction, needed)).filter(({ id }) => id === undefined || !own.has(id));
};
