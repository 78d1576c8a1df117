import { type FunctionValue } from '@decision/expressions';
import { type Condition, type ValueTest } from '../operators/condition';
import { testOf } from '../match/clause-table';
import { type Operator } from '../operators/operator-entry';
import { createPreparer, type Prepare } from '../operators/preparer';
import { readFunctionValues } from '../references/function-values';
import { ValueResolver } from '../references/value-resolver';
import { type ValueSource } from '../references/value-source';
import { type RuleFailure } from '../rule-outcome';
import { type ReferenceCell } from './output-cell';
import { type PatternCosts, patternCostsOf } from './pattern-costs';

/** A condition that changes with the values to which its arguments refer. */
export interface MovingCell {
  /** Position of the input. */
  readonly field: number;
  readonly operator: Operator;
  readonly args: readonly unknown[];
  /** Index in `conditions`. */
  readonly row: number;
  condition: Condition;
  current: ValueTest<unknown>;
}

/** An output that changes with values. */
export interface MovingOutput {
  readonly cell: ReferenceCell;
  /** Index in `conditions`; undefined for a default. */
  readonly row: number | undefined;
  readonly column: string;
}

export interface BindingsPlan {
  readonly source: ValueSource | undefined;
  readonly cells: readonly MovingCell[];
  readonly outputs: readonly MovingOutput[];
  readonly functionIds: ReadonlyMap<string, string>;
  /** Keys of inputs by position, for messages. */
  readonly inputKeys: readonly string[];
}

/**
 * Everything in a rule that depends on values. It is looked up again when the revision of the values has changed; the rest of the rule stays
 * as it was compiled. A value that is gone, or no longer fits, makes every answer of the rule a failure that names the place: an answer that
 * left a part of the rule out would be wrong.
 */
export class Bindings {
  private seen: number | string | undefined;
  private currentFailure: RuleFailure | undefined;
  private currentFunctions: ReadonlyMap<string, FunctionValue> = new Map();
  private currentCosts: PatternCosts = new Map();

  constructor(private readonly plan: BindingsPlan) {}

  get failure(): RuleFailure | undefined {
    return this.currentFailure;
  }

  get functions(): ReadonlyMap<string, FunctionValue> {
    return this.currentFunctions;
  }

  /** Of the conditions as they now are. */
  get patternCosts(): PatternCosts {
    return this.currentCosts;
  }

  /** Takes over what has changed; answers whether anything may have. */
  refresh(): boolean {
    const revision = this.plan.source?.revision;
    if (revision === undefined || revision === this.seen) return false;
    this.currentFailure = undefined;
    const resolver = new ValueResolver(this.plan.source);
    const prepare = createPreparer();
    for (const cell of this.plan.cells) this.bindCell(cell, resolver, prepare);
    for (const output of this.plan.outputs) this.bindOutput(output, resolver);
    this.bindFunctions();
    this.currentCosts = patternCostsOf(this.plan.cells);
    this.seen = revision;
    return true;
  }

  private bindCell(cell: MovingCell, resolver: ValueResolver, prepare: Prepare): void {
    const place = { row: cell.row, column: this.plan.inputKeys[cell.field] ?? '' };
    const resolution = resolver.resolve(cell.args);
    if (!resolution.ok) return this.fail(resolution.unresolved.fault, place);
    const args = resolution.value as readonly unknown[]; // a list with other elements is a list
    const preparation = prepare(cell.operator, args);
    if (!preparation.ok) return this.fail(preparation.faults[0]?.fault ?? 'cannot be used', place);
    cell.condition = preparation.condition;
    cell.current = testOf(preparation.condition);
  }

  private bindOutput({ cell, row, column }: MovingOutput, resolver: ValueResolver): void {
    const resolution = resolver.resolve(cell.template);
    if (!resolution.ok) return this.fail(resolution.unresolved.fault, { row, column });
    cell.current = resolution.value;
  }

  private bindFunctions(): void {
    const { functions, faults } = readFunctionValues(this.plan.functionIds, this.plan.source);
    this.currentFunctions = functions;
    const [first] = faults;
    if (first !== undefined) this.fail(`calls the function value "${first.name}", which ${first.fault}`, {});
  }

  /** Keeps the first failure. */
  private fail(fault: string, place: { readonly row?: number | undefined; readonly column?: string }): void {
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
