import { isMissing } from '@decision/values';
import { type Collector, type CombinePlan, type InputPlan, type Step } from '../plan';
import { type Frame, type LoopState, RAN } from './frame';
import { FlowFault } from './outcome';
import { PIECE, type Pieces, sortInPieces } from './pieces';
import { asObject, mismatch, writeMember } from './values';

type Rows = readonly LoopState['rows'][number][number][];

/** The result of an aggregate over its loop; undefined if the loop was skipped. */
export function* combineLoop(
  { loop: at, collector, combine: plan }: Step & { readonly kind: 'aggregate' },
  { scope, states, values }: Frame,
): Pieces<Readonly<Record<string, unknown>> | undefined> {
  const step = scope.steps[at];
  if (states[at] !== RAN || step?.kind !== 'loop') return undefined;
  const collected = step.collectors[collector];
  const loop = values[at] as LoopState; // value of a loop that ran
  if (collected === undefined) return undefined;
  const rows = yield* sortInPieces(loop.rows[collector] ?? [], (a, b) => a.index - b.index);
  return plan.mode === 'items'
    ? { items: yield* itemsOf(collected.inputs, rows) }
    : yield* combine(plan, collected, rows);
}

/** FL-45. */
function* itemsOf(inputs: readonly InputPlan[], rows: Rows): Pieces<readonly Readonly<Record<string, unknown>>[]> {
  const items: Readonly<Record<string, unknown>>[] = [];
  for (const { values } of rows) {
    items.push(asObject(inputs, values));
    if (items.length % PIECE === 0) yield;
  }
  return items;
}

/** FL-46. */
function* combine(
  { operators }: CombinePlan,
  { inputs }: Collector,
  rows: Rows,
): Pieces<Readonly<Record<string, unknown>>> {
  const combined: Record<string, unknown> = {};
  for (const [position, { key, path }] of inputs.entries()) {
    const values: unknown[] = [];
    for (const [count, row] of rows.entries()) {
      if (count % PIECE === PIECE - 1) yield;
      if (!isMissing(row.values[position])) values.push(row.values[position]);
    }
    const value = yield* accumulate(operators[position] ?? 'list', values, key);
    if (value !== undefined) writeMember(combined, path, value);
  }
  return combined;
}

function* accumulate(
  operator: CombinePlan['operators'][number],
  values: readonly unknown[],
  key: string,
): Pieces<unknown> {
  switch (operator) {
    case 'list':
      return values;
    case 'count':
      return values.length;
    case 'first':
      return values[0];
    case 'last':
      return values.at(-1);
    default:
  }
  let sum = 0;
  let least = Infinity;
  let most = -Infinity;
  for (const [count, value] of values.entries()) {
    if (count % PIECE === PIECE - 1) yield;
    if (typeof value !== 'number') throw mismatch(`"${key}", of which the ${operator} is asked,`, 'number', value, key);
    sum += value;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (operator === 'sum') return finite(sum, key);
  if (values.length === 0) return undefined;
  if (operator === 'average') return finite(sum, key) / values.length;
  return operator === 'min' ? least : most;
}

const finite = (sum: number, key: string): number => {
  if (Number.isFinite(sum)) return sum;
  throw new FlowFault(`The sum of "${key}" is larger than any number.`, { reason: 'out_of_range', field: key });
};
