import { type FieldType, type HitPolicy } from '@decision/contracts';
import { type CompiledFormula, type FunctionValue } from '@decision/expressions';
import { areEqual } from '@decision/values';
import { type FieldPath, type FieldReader } from '../match/frame';
import { type Condition } from '../operators/condition';
import { createPreparer, type Prepare } from '../operators/operator-entry';
import { type PlannedCell, type PlannedOutput } from '../read/planned-table';
import { readFunctionValues } from '../references/read-formula';
import { type StoredValue, ValueResolver, type ValueSource } from '../references/value-reference';
import { type RuleFailure, type RuleOutcome } from '../rule-outcome';
import { frozenCopy } from '../values/json-value';
import { buildSearch, type SearchPlan } from './build-search';
import { type RuleSearch } from './rule-search';

export interface CompiledInput {
  readonly reader: FieldReader;
  readonly type: FieldType;
  /** Replacement for a missing value. */
  readonly fallback: OutputCell;
}

export interface CompiledOutput {
  readonly path: FieldPath;
  readonly fallback: OutputCell;
  /** Value of the row at each turn. */
  readonly cells: readonly OutputCell[];
}

/** A group, whose rows are at adjacent turns. */
export interface CompiledGroup {
  readonly id: string;
  readonly policy: HitPolicy;
  /** By position of the output. */
  readonly accumulators: ReadonlyMap<number, CompiledFormula>;
  /** Turns of its rows; the end is not included. */
  readonly start: number;
  readonly end: number;
}

/** Key of the parts of a compiled rule. The package does not export it, so that other packages cannot read the parts. */
export const PARTS = Symbol('parts');

/**
 * A compiled decision table, safe to share: it never changes for its users. It is created by `compileRule` and is opaque: other packages pass it
 * to the functions of this one.
 */
export interface CompiledRule {
  readonly [PARTS]: RuleParts;
}

/** All parts of a compiled rule that evaluations read. */
export interface RuleParts {
  /** Rows that take part. */
  readonly rowCount: number;
  /** Approximate retained memory, including answers that it will cache. */
  readonly bytes: number;
  readonly inputs: readonly CompiledInput[];
  /** Positions of inputs that have a default. */
  readonly inputsWithFallback: readonly number[];
  readonly outputs: readonly CompiledOutput[];
  /** Parts of the keys of all outputs: the size of an answer without its values. */
  readonly partsPerAnswer: number;
  /** Positions of outputs by key. */
  readonly outputPositions: ReadonlyMap<string, number>;
  /** Index in `conditions` of the row at each turn in the order of trial. */
  readonly rowIndexes: Uint32Array;
  /** By turn: 1 if the row is joined with OR. */
  readonly orRows: Uint8Array;
  /** By turn: the group of the row. Empty if the rule has no groups. */
  readonly groupsByTurn: readonly (CompiledGroup | undefined)[];
  readonly strictInput: boolean;
  readonly bindings: Bindings;
  /** Search by the current values; replaced as a whole when one changes. */
  search: RuleSearch;
  /** Answers that do not depend on the input, by turn, created on first use; that of no row is last. */
  readonly answers: (RuleOutcome | undefined)[];
}

/** Marks an output without a value in a row, or a field without a default. */
export const NOTHING = Symbol('nothing');

/** The value of an output is computed by a formula. */
export class FormulaCell {
  constructor(readonly formula: CompiledFormula) {}
}

/** The value of an output refers to values of the workspace; `current` is their present content. */
export class ReferenceCell {
  current: unknown = null;

  constructor(readonly template: unknown) {}
}

/** {@link NOTHING}, a {@link FormulaCell}, a {@link ReferenceCell}, or any other frozen value, which represents itself. */
export type OutputCell = unknown;

export const outputCellOf = (planned: PlannedOutput | undefined): OutputCell => {
  switch (planned?.kind) {
    case undefined:
      return NOTHING;
    case 'constant':
      return frozenCopy(planned.value);
    case 'reference':
      return new ReferenceCell(frozenCopy(planned.template));
    case 'formula':
      return new FormulaCell(planned.formula);
  }
};

/** An output that changes with values. */
export interface MovingOutput {
  readonly cell: ReferenceCell;
  /** Index in `conditions`; undefined for a default. */
  readonly row: number | undefined;
  readonly column: string;
}

interface BindingsPlan {
  readonly source: ValueSource | undefined;
  /** How rows are found; undefined if no condition refers to a value. */
  readonly search: SearchPlan | undefined;
  readonly outputs: readonly MovingOutput[];
  readonly functionIds: ReadonlyMap<string, string>;
}

/** Values of the workspace by id. */
export type UsedValues = ReadonlyMap<string, StoredValue | undefined>;

const NO_VALUES: UsedValues = new Map();

/** Changes caused by new values. */
export interface Rebinding {
  /** The search of the current conditions; undefined if none refers to a value, or if they cannot be used. */
  readonly search: RuleSearch | undefined;
}

/**
 * Everything in a rule that depends on values (docs/adr/0010-values-by-id-and-revision.md). It is looked up again when the revision of the
 * values has changed, and rebuilt if one of the rule's values did; the rest of the rule stays as compiled. If a value is gone or no longer fits,
 * every answer of the rule is a failure that names its location: an answer without a part of the rule would be wrong.
 */
export class Bindings {
  private seen: number | string | undefined;
  private currentFailure: RuleFailure | undefined;
  private currentFunctions: ReadonlyMap<string, FunctionValue> = new Map();
  /** The values used last, by id. The map is replaced and never changed in place. */
  private used: UsedValues | undefined;

  constructor(private readonly plan: BindingsPlan) {}

  get failure(): RuleFailure | undefined {
    return this.currentFailure;
  }

  get functions(): ReadonlyMap<string, FunctionValue> {
    return this.currentFunctions;
  }

  /** The values behind the current answers, with their current audiences. A later change replaces the map and does not change this one. */
  get values(): UsedValues {
    return this.used ?? NO_VALUES;
  }

  /** Whether conditions refer to values. */
  get isMoving(): boolean {
    return this.plan.search !== undefined;
  }

  /** Applies changes; undefined if nothing has changed. */
  refresh(): Rebinding | undefined {
    const { source } = this.plan;
    const revision = source?.revision;
    if (source === undefined || revision === this.seen) return undefined;
    this.seen = revision;
    if (this.used !== undefined && areAsTheyWere(this.used, source)) {
      // The values are the same; their audiences may have changed.
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
    const location = { row, column: this.plan.search?.readers[cell.field]?.key ?? '' };
    const resolution = resolver.resolve(cell.args);
    if (!resolution.ok) return this.fail(resolution.unresolved.fault, location);
    const args = resolution.value as readonly unknown[]; // a list with other elements is a list
    const preparation = prepare(cell.operator, args);
    return preparation.ok
      ? preparation.condition
      : this.fail(preparation.faults[0]?.fault ?? 'cannot be used', location);
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

  /** Stores the first failure. */
  private fail(fault: string, location: { readonly row?: number | undefined; readonly column?: string }): undefined {
    const { row, column } = location;
    const where = [
      ...(row === undefined ? [] : [`row ${row}`]),
      ...(column === undefined ? [] : [`column "${column}"`]),
    ];
    this.currentFailure ??= {
      code: 'evaluation_failed',
      message: `The rule cannot be evaluated${where.length > 0 ? `: ${where.join(', ')}` : ''}: it ${fault}.`,
      ...(row === undefined ? {} : { row }),
      ...(column === undefined ? {} : { column }),
      details: { reason: 'value_unusable', ...location },
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
