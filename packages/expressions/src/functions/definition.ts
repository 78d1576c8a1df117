import { type Evaluate, type Run } from '../run/run';
import { type FormulaNode } from '../syntax/nodes';
import { type ArgumentCount, type ArgumentForm, type CallSite, type Parameter } from './parameters';

type FunctionGroup = 'number' | 'string' | 'list' | 'date' | 'logic';

/** Documentation of a function of the catalogue. */
export interface FunctionEntry {
  readonly name: string;
  readonly group: FunctionGroup;
  readonly parameters: readonly { readonly name: string; readonly type: string; readonly optional: boolean }[];
  /** Whether the last parameter may be repeated. */
  readonly variadic: boolean;
  readonly meaning: string;
  /** A formula, and its answer at `exampleNow` over `exampleFields`. */
  readonly example: string;
  readonly result: unknown;
}

/** The clock of the examples: 2024-05-15T10:30:00.000Z, a Wednesday. */
export const exampleNow = 1_715_769_000_000;

/** The fields of the examples. */
export const exampleFields: Readonly<Record<string, unknown>> = Object.freeze({
  order: Object.freeze({ quantity: 2, price: 10 }),
});

/**
 * The part that a call reads of an argument that is an object, a list of objects, or a lambda that answers one:
 * - `whole`: all of it, because the answer may contain it or depend on any of its members;
 * - `parts`: only the members that the formula names, and how many elements there are;
 * - `answered`: the part that is read of the call's answer, which contains elements of it;
 * - `selected`: `parts` if the next argument is a quoted selector that only names a field, else `answered`.
 */
export type ArgumentReading = 'whole' | 'parts' | 'answered' | 'selected';

/** State of a call whose list arrives in pieces. */
export interface PieceReduction {
  /** Adds the converted next piece. True: the answer is certain, regardless of the other pieces. */
  addPiece(made: unknown): boolean;
  result(): unknown;
}

/** How the pieces of a list become one answer: either the answers for the pieces are merged, or their values are added one by one. */
export interface PieceMerging {
  readonly of: 'answers' | 'values';
  readonly begin: (site: CallSite) => PieceReduction;
}

/** A function of the catalogue: its documentation, and how its calls are compiled. */
export interface FunctionDefinition {
  readonly entry: FunctionEntry;
  /** By argument. */
  readonly readingOf: (index: number) => ArgumentReading;
  /** See {@link Description.pieces}. */
  readonly pieces: PieceMerging | undefined;
  /** See {@link Description.isElementwise}. */
  readonly isElementwise: boolean;
  /** Fewest and most arguments, which may depend on the arguments. */
  readonly count: (given: readonly FormulaNode[]) => ArgumentCount;
  /** Whether equal arguments always give equal answers, so that a call on constants is itself constant. */
  readonly constant: boolean;
  readonly formOf: (index: number, argument: FormulaNode) => ArgumentForm;
  readonly build: (site: CallSite, given: readonly Evaluate[]) => Evaluate;
}

/** Description of a function. */
interface Description {
  readonly name: string;
  readonly group: FunctionGroup;
  readonly meaning: string;
  readonly example: string;
  readonly result: unknown;
  /** By argument; the last one applies to all further arguments. Default: all are read whole. */
  readonly reads?: readonly ArgumentReading[];
  /** How the answer is computed from pieces of the list. Default: it needs the whole list at once. */
  readonly pieces?: PieceMerging;
  /** Whether it maps or filters its list element by element. Default false. */
  readonly isElementwise?: boolean;
}

type ValuesOf<Parameters extends readonly Parameter[]> = {
  [Index in keyof Parameters]: Parameters[Index] extends Parameter<infer Value> ? Value : never;
};

interface StrictFunction<Parameters extends readonly Parameter[]> extends Description {
  readonly parameters: Parameters;
  /** False if it reads the clock. Default true. */
  readonly constant?: boolean;
  readonly apply: (site: CallSite, run: Run, ...values: ValuesOf<Parameters>) => unknown;
}

/** Defines a function that gets all its arguments, checked by its parameters (at most four). */
export const strict = <const Parameters extends readonly Parameter[]>(
  definition: StrictFunction<Parameters>,
): FunctionDefinition => {
  const { parameters, constant = true } = definition;
  // Each value given to `apply` was read by the parameter at its position, which guarantees its type.
  const apply = definition.apply as (site: CallSite, run: Run, ...values: unknown[]) => unknown;
  return {
    entry: entryOf(definition, parameters, false),
    readingOf: readingOf(definition),
    pieces: definition.pieces,
    isElementwise: definition.isElementwise ?? false,
    count: countOf(parameters, parameters.length),
    constant,
    formOf: (index) => parameters[index]?.form ?? 'value',
    build: (site, given) =>
      bindArguments(
        site,
        apply,
        parameters.map((parameter, index) => reader(site, parameter, given[index], index)),
      ),
  };
};

type Apply = (site: CallSite, run: Run, ...values: unknown[]) => unknown;

const ABSENT: Evaluate = () => undefined;

const reader = (site: CallSite, { read }: Parameter, given: Evaluate | undefined, index: number): Evaluate =>
  given === undefined ? ABSENT : (run) => read(given(run), site, index);

/** One closure per number of arguments, so that a call allocates no list of them. */
const bindArguments = (site: CallSite, apply: Apply, readers: readonly Evaluate[]): Evaluate => {
  const [first = ABSENT, second = ABSENT, third = ABSENT, fourth = ABSENT] = readers;
  switch (readers.length) {
    case 0:
      return (run) => apply(site, run);
    case 1:
      return (run) => apply(site, run, first(run));
    case 2:
      return (run) => apply(site, run, first(run), second(run));
    case 3:
      return (run) => apply(site, run, first(run), second(run), third(run));
    default:
      return (run) => apply(site, run, first(run), second(run), third(run), fourth(run));
  }
};

interface SpecialForm extends Description {
  readonly parameters: readonly Parameter[];
  /** Whether the last parameter may be repeated. Default false. */
  readonly variadic?: boolean;
  readonly count?: FunctionDefinition['count'];
  readonly formOf?: FunctionDefinition['formOf'];
  readonly build: FunctionDefinition['build'];
}

/** Maximum number of arguments of a call; a list may have more elements. */
export const MOST_ARGUMENTS = 100;

/** Defines a function that decides itself when, and whether, its arguments are evaluated. */
export const special = (definition: SpecialForm): FunctionDefinition => {
  const { parameters, variadic = false, count, formOf, build } = definition;
  return {
    entry: entryOf(definition, parameters, variadic),
    readingOf: readingOf(definition),
    pieces: definition.pieces,
    isElementwise: definition.isElementwise ?? false,
    count: count ?? countOf(parameters, variadic ? MOST_ARGUMENTS : parameters.length),
    constant: true,
    formOf: formOf ?? ((index) => parameters[index]?.form ?? 'value'),
    build,
  };
};

const readingOf =
  ({ reads = [] }: Description): FunctionDefinition['readingOf'] =>
  (index) =>
    reads[index] ?? reads.at(-1) ?? 'whole';

const countOf = (parameters: readonly Parameter[], maximum: number): FunctionDefinition['count'] => {
  const count = { minimum: parameters.filter((parameter) => !parameter.optional).length, maximum };
  return () => count;
};

const entryOf = (
  { name, group, meaning, example, result }: Description,
  parameters: readonly Parameter[],
  variadic: boolean,
): FunctionEntry => ({
  name,
  group,
  parameters: parameters.map(({ name: parameter, type, optional }) => ({ name: parameter, type, optional })),
  variadic,
  meaning,
  example,
  result,
});
