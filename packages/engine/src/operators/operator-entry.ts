import { type FieldType } from '@decision/contracts';
import { type RuleProblemCode } from '../rule-problem';
import { type Argument, type ArgumentContext, type ArgumentType } from './argument';
import { type Condition } from './condition';
import { createPatternReader, type PatternAllowance } from './pattern';

interface OperatorArgument {
  readonly name: string;
  readonly type: ArgumentType;
}

/** Description of an operator for editors, messages and the documentation. */
export interface OperatorEntry {
  readonly type: FieldType;
  /** The exact wire name. */
  readonly op: string;
  readonly args: readonly OperatorArgument[];
  readonly meaning: string;
  /** Arguments, a matching value and one that does not match, at {@link EXAMPLE_NOW}. `any` matches everything, so its second value is `null`. */
  readonly example: { readonly args: readonly unknown[]; readonly matches: unknown; readonly misses: unknown };
}

/** The clock of the examples: 2026-05-13T12:00:00Z, a Wednesday. */
export const EXAMPLE_NOW = 1_778_673_600_000;

interface ArgumentFault {
  readonly code: RuleProblemCode;
  /** The fault, as the end of a sentence about the cell. */
  readonly fault: string;
}

type Preparation =
  | { readonly ok: true; readonly condition: Condition }
  | { readonly ok: false; readonly faults: readonly ArgumentFault[] };

/** An operator of one field type: its description, and the conversion of its cells to conditions. */
export interface Operator {
  readonly entry: OperatorEntry;
  /** Worst-case cost of a test for one character, element or member of the value, ns. */
  readonly readingCost: number;
  /** Reads the arguments of one cell. Returns all their faults. */
  readonly prepare: (args: readonly unknown[], context: ArgumentContext) => Preparation;
}

type ValuesOf<Args extends readonly Argument[]> = {
  [Index in keyof Args]: Args[Index] extends Argument<infer Value> ? Value : never;
};

interface OperatorDefinition<V, Args extends readonly Argument[]> {
  readonly op: string;
  readonly args: Args;
  readonly meaning: string;
  readonly example: readonly [args: readonly unknown[], matches: unknown, misses: unknown];
  /** Whether the arguments of a range are in ascending order. Default: they are not a range. */
  readonly isInOrder?: (...values: ValuesOf<Args>) => boolean;
  /** See {@link Operator.readingCost}. Default: 20. */
  readonly readingCost?: number | undefined;
  readonly condition: (...values: ValuesOf<Args>) => Condition<V>;
}

const USUAL_READING_COST = 20;

/** Creates the function that defines the operators of one field type; `V` is the type of the values in their tests. */
export const operatorsOf =
  <V>(type: FieldType) =>
  <const Args extends readonly Argument[]>(definition: OperatorDefinition<V, Args>): Operator => {
    const { op, args, meaning, example, isInOrder, readingCost = USUAL_READING_COST } = definition;
    // The index calls tests only for values of the field's type, which is V.
    const condition = definition.condition as (...values: ValuesOf<Args>) => Condition;
    let withoutArguments: Preparation | undefined;
    return {
      entry: {
        type,
        op,
        args: args.map(({ name, type: argumentType }) => ({ name, type: argumentType })),
        meaning,
        example: { args: example[0], matches: example[1], misses: example[2] },
      },
      readingCost,
      prepare: (given, context) => {
        if (given.length !== args.length) return { ok: false, faults: [wrongCount(op, args, given)] };
        const { values, faults } = readAll(op, args, given, context);
        if (faults.length > 0) return { ok: false, faults };
        // Each value was read by the argument at its position, as its type says.
        const read = values as ValuesOf<Args>;
        if (isInOrder && !isInOrder(...read)) return { ok: false, faults: [wrongOrder(op, given)] };
        if (args.length > 0) return { ok: true, condition: condition(...read) };
        // All cells of an operator without arguments are equal: they share a condition, which is evaluated once per value.
        return (withoutArguments ??= { ok: true, condition: condition(...read) });
      },
    };
  };

const readAll = (
  op: string,
  args: readonly Argument[],
  given: readonly unknown[],
  context: ArgumentContext,
): { readonly values: readonly unknown[]; readonly faults: readonly ArgumentFault[] } => {
  const values: unknown[] = [];
  const faults: ArgumentFault[] = [];
  args.forEach(({ name, read }, index) => {
    const reading = read(given[index], context);
    if (reading.ok) values.push(reading.value);
    else faults.push({ code: reading.code, fault: `gives "${op}" a ${name} that ${reading.fault}` });
  });
  return { values, faults };
};

const wrongCount = (op: string, args: readonly Argument[], given: readonly unknown[]): ArgumentFault => {
  const names = args.map(({ name }) => name).join(', ');
  const wanted = args.length === 0 ? 'no argument' : `${args.length} (${names})`;
  const [only] = args;
  const isFlatList = args.length === 1 && only?.type === 'list' && given.length > 1 && !given.some(Array.isArray);
  return {
    code: 'wrong_argument_count',
    fault:
      `gives "${op}" ${given.length} ${given.length === 1 ? 'argument' : 'arguments'}; it takes ${wanted}` +
      (isFlatList ? `, and a list is one argument: write args: [${shownList(given)}]` : ''),
  };
};

const MOST_SHOWN = 3;
const LONGEST_SHOWN = 40;

/** The list that was most likely meant, as JSON, shortened if it is long. */
const shownList = (members: readonly unknown[]): string => {
  const shown = members.slice(0, MOST_SHOWN).map((member) => {
    const text = JSON.stringify(member) ?? 'null';
    return text.length > LONGEST_SHOWN ? '...' : text;
  });
  return `[${[...shown, ...(members.length > MOST_SHOWN ? ['...'] : [])].join(',')}]`;
};

const wrongOrder = (op: string, given: readonly unknown[]): ArgumentFault => ({
  code: 'wrong_range',
  fault: `gives "${op}" a range from ${String(given[0])} to ${String(given[1])}, which is the wrong way round`,
});

/** Prepares a cell for resolved arguments. */
export type Prepare = (operator: Operator, args: readonly unknown[]) => Preparation;

/**
 * Prepares the cells of one table. Cells with the same text of references have the same list of resolved arguments; they share one condition, so
 * that a large value used in thousands of rows is processed once.
 */
export const createPreparer = (allowance?: PatternAllowance): Prepare => {
  const readPattern = createPatternReader(allowance);
  const known = new Map<readonly unknown[], Map<Operator, Preparation>>();
  return (operator, args) => {
    const byOperator = known.get(args) ?? new Map<Operator, Preparation>();
    const preparation = byOperator.get(operator) ?? operator.prepare(args, { readPattern });
    known.set(args, byOperator.set(operator, preparation));
    return preparation;
  };
};
