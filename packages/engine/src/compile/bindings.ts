import { type FunctionValue } from '@decision/expressions';
import { areEqual } from '@decision/values';
import { type Condition } from '../operators/condition';
import { createPreparer, type Prepare } from '../operators/preparer';
import { type PlannedCell } from '../read/planned-table';
import { readFunctionValues } from '../references/function-values';
import { ValueResolver } from '../references/value-resolver';
import { type StoredValue, type ValueSource } from '../references/value-source';
import { type RuleFailure } from '../rule-outcome';
import { buildSearch, type RuleSearch, type SearchPlan } from './build-search';
import { type ReferenceCell } from './output-cell';

/** An output that changes with values. */
export interface MovingOutput {
  readonly cell: ReferenceCell;
  /** Index in `conditions`; undefined for a default. */
  readonly row: number | undefined;
  readonly column: string;
}

interface BindingsPlan {
  readonly source: ValueSource | undefined;
  /** How rows are found; undefined where no condition refers to a value. */
  readonly search: SearchPlan | undefined;
  readonly outputs: readonly MovingOutput[];
  readonly functionIds: ReadonlyMap<string, string>;
}

/** Values of the workspace by id. */
export type UsedValues = ReadonlyMap<string, StoredValue | undefined>;

const NO_VALUES: UsedValues = new Map();

/** Changes that new values bring. */
export interface Rebinding {
  /** The search of the conditions as they now are; undefined where none refers to a value, or where they cannot be used. */
  readonly search: RuleSearch | undefined;
}

/**
 * Everything in a rule that depends on values. It is looked up again when the revision of the values has changed, and made again where one
 * that the rule uses did; the rest of the rule stays as it was compiled. A value that is gone, or no longer fits, makes every answer of the rule a failure that names the place: an answer that
 * left a part of the rule out would be wrong.
 */
export class Bindings {
  private seen: number | string | undefined;
  private currentFailure: RuleFailure | undefined;
  private currentFunctions: ReadonlyMap<string, FunctionValue> = new Map();
  /** The values that were used last, by id. They are exchanged and never changed in place. */
  private used: UsedValues | undefined;

  constructor(private readonly plan: BindingsPlan) {}

  get failure(): RuleFailure | undefined {
    return this.currentFailure;
  }

  get functions(): ReadonlyMap<string, FunctionValue> {
    return this.currentFunctions;
  }

  /** The values on which answers rest now, with those who may see them now. A later change replaces the map and leaves this one alone. */
  get values(): UsedValues {
    return this.used ?? NO_VALUES;
  }

  /** Whether conditions refer to values. */
  get isMoving(): boolean {
    return this.plan.search !== undefined;
  }

  /** Takes over what has changed; undefined where nothing has. */
  refresh(): Rebinding | undefined {
    const { source } = this.plan;
    const revision = source?.revision;
    if (source === undefined || revision === this.seen) return undefined;
    this.seen = revision;
    if (this.used !== undefined && areAsTheyWere(this.used, source)) {
      // The values are the same; who may see them may have changed.
      this.used = new Map([...this.used.keys()].map((id) => [id, source.get(id)]));
      return undefined;
    }
    const used = new Map<string, StoredValue | undefined>();
    this.used = used;
    return this.bind({
      revision: source.revision,
      get: (id) => {
        const stored = source.get(id);
        used.set(id, stored);
        return stored;
      },
    });
  }

  private bind(source: ValueSource): Rebinding {
    this.currentFailure = undefined;
    const resolver = new ValueResolver(source);
    const conditions = this.bindCells(resolver, createPreparer());
    for (const output of this.plan.outputs) this.bindOutput(output, resolver);
    this.bindFunctions(source);
    const { search } = this.plan;
    if (search === undefined || this.currentFailure !== undefined) return { search: undefined };
    return { search: buildSearch(search, (cell) => conditions.get(cell) ?? cell.condition) };
  }

  private bindCells(resolver: ValueResolver, prepare: Prepare): ReadonlyMap<PlannedCell, Condition> {
    const conditions = new Map<PlannedCell, Condition>();
    for (const { index, cells } of this.plan.search?.rows ?? []) {
      for (const cell of cells) {
        if (!cell.isMoving) continue;
        const condition = this.bindCell(cell, index, resolver, prepare);
        if (condition !== undefined) conditions.set(cell, condition);
      }
    }
    return conditions;
  }

  private bindCell(cell: PlannedCell, row: number, resolver: ValueResolver, prepare: Prepare): Condition | undefined {
    const place = { row, column: this.plan.search?.readers[cell.field]?.key ?? '' };
    const resolution = resolver.resolve(cell.args);
    if (!resolution.ok) return this.fail(resolution.unresolved.fault, place);
    const args = resolution.value as readonly unknown[]; // a list with other elements is a list
    const preparation = prepare(cell.operator, args);
    return preparation.ok ? preparation.condition : this.fail(preparation.faults[0]?.fault ?? 'cannot be used', place);
  }

  private bindOutput({ cell, row, column }: MovingOutput, resolver: ValueResolver): void {
    const resolution = resolver.resolve(cell.template);
    if (!resolution.ok) return this.fail(resolution.unresolved.fault, { row, column });
    cell.current = resolution.value;
  }

  private bindFunctions(source: ValueSource): void {
    const { functions, faults } = readFunctionValues(this.plan.functionIds, source);
    this.currentFunctions = functions;
    const [first] = faults;
    if (first !== undefined) this.fail(`calls the function value "${first.name}", which ${first.fault}`, {});
  }

  /** Keeps the first failure. */
  private fail(fault: string, place: { readonly row?: number | undefined; readonly column?: string }): undefined {
    const { row, column } = place;
    const where = [
      ...(row === undefined ? [] : [`row ${row}`]),
      ...(column === undefined ? [] : [`column "${column}"`]),
    ];
    this.currentFailure ??= {
      code: 'evaluation_failed',
      message: `The rule cannot be evaluated${where.length > 0 ? `: ${where.join(', ')}` : ''}: it ${fault}.`,
      ...(row === undefined ? {} : { row }),
      ...(column === undefined ? {} : { column }),
      details: { reason: 'value_unusable', ...place },
    };
  }
}

const areAsTheyWere = (used: UsedValues, source: ValueSource): boolean => {
  for (const [id, before] of used) if (!isSameValue(before, source.get(id))) return false;
  return true;
};

const isSameValue = (before: StoredValue | undefined, now: StoredValue | undefined): boolean =>
  before === now ||
  (before !== undefined &&
    now !== undefined &&
    before.name === now.name &&
    before.type === now.type &&
    areEqual(before.value, now.value));
