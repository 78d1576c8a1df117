import {
  checkFormula,
  type CheckScope,
  type CompiledFormula,
  compileFormula,
  type FormulaProblem,
  type FunctionValue,
  parseFormula,
} from '@decision/expressions';
import { PatternAllowance, TOO_MANY_PATTERNS } from '../operators/pattern';
import { isObject } from '../values/json-value';
import { type FunctionText, type StoredValue, type ValueSource } from './value-reference';

type FormulaReading =
  | { readonly ok: true; readonly formula: CompiledFormula }
  | { readonly ok: false; readonly problems: readonly FormulaProblem[] };

/** Parses, checks and compiles a formula for its location. */
export const readFormula = (text: string, scope: CheckScope, patterns: PatternAllowance): FormulaReading => {
  if (patterns.isSpent) return { ok: false, problems: [tooManyPatterns(text)] };
  const parsing = parseFormula(text);
  if (!parsing.ok) return { ok: false, problems: [parsing.problem] };
  const problems = checkFormula(parsing.formula, scope);
  if (problems.length > 0) return { ok: false, problems };
  const formula = compileFormula(parsing.formula);
  return patterns.take(formula.patternWeight)
    ? { ok: true, formula }
    : { ok: false, problems: [tooManyPatterns(text)] };
};

/** A problem of the whole formula. */
const tooManyPatterns = (text: string): FormulaProblem => {
  const [line = ''] = text.split('\n', 1);
  const caret = `${line}\n${'^'.repeat(Math.max(1, line.length))}`;
  const message = `the ${TOO_MANY_PATTERNS}`;
  return { code: 'formula_too_large', message, position: 0, length: line.length, line: 1, column: 1, caret };
};

/** Reads a formula that occurs in many rows of a column once. */
export class FormulaReader {
  private readonly known = new Map<string, FormulaReading>();

  /** The scope is requested with the first formula: most columns have none. */
  constructor(
    private readonly scope: () => CheckScope,
    private readonly patterns: PatternAllowance,
  ) {}

  read(text: string): FormulaReading {
    const earlier = this.known.get(text);
    if (earlier) return earlier;
    const reading = readFormula(text, this.scope(), this.patterns);
    this.known.set(text, reading);
    return reading;
  }
}

/** A function value that cannot be called, by its name in formulas; `fault` ends a sentence about it. */
interface FunctionFault {
  readonly name: string;
  readonly fault: string;
}

interface FunctionValues {
  readonly functions: ReadonlyMap<string, FunctionValue>;
  readonly faults: readonly FunctionFault[];
}

/** Compiles the function values that formulas may call. They see their parameters and one another. */
export const readFunctionValues = (
  ids: ReadonlyMap<string, string>,
  source: ValueSource | undefined,
): FunctionValues => {
  const texts = new Map<string, FunctionText>();
  const faults: FunctionFault[] = [];
  for (const [name, id] of ids) {
    const text = functionTextOf(source?.get(id));
    if (typeof text === 'string') faults.push({ name, fault: text });
    else texts.set(name, text);
  }
  const signatures = new Map([...texts].map(([name, { parameters }]) => [name, { parameters: parameters.length }]));
  const functions = new Map<string, FunctionValue>();
  const patterns = new PatternAllowance();
  for (const [name, { parameters, formula }] of texts) {
    const reading = readFormula(formula, { fields: new Set(parameters), functions: signatures }, patterns);
    if (reading.ok) functions.set(name, { parameters, body: reading.formula });
    else faults.push({ name, fault: `has a formula that cannot be used: ${reading.problems[0]?.message ?? ''}` });
  }
  return { functions, faults };
};

/** A bound because each access to a name in a formula searches all parameters. */
const MAX_PARAMETERS = 100;

/** The function in a value, or its fault, as the end of a sentence. */
export const functionTextOf = (stored: StoredValue | undefined): FunctionText | string => {
  if (stored === undefined) return 'does not exist';
  const { type, value } = stored;
  const isFunction = type === 'function' && isObject(value) && typeof value['formula'] === 'string';
  const parameters = isFunction ? value['parameters'] : undefined;
  if (!isFunction || !isTextList(parameters)) return 'is not a function of parameters and a formula';
  if (parameters.length > MAX_PARAMETERS) return `has more than ${MAX_PARAMETERS} parameters`;
  return { parameters, formula: String(value['formula']) };
};

/**
 * The first fault of a function to be stored, as a sentence; undefined if there is none. Does not check the functions that it calls: these
 * depend on the rule.
 */
export const checkFunctionText = ({ parameters, formula }: FunctionText): string | undefined => {
  const twice = parameters.find((name, index) => parameters.indexOf(name) !== index);
  if (twice !== undefined) return `The parameter "${twice}" stands twice; remove one.`;
  const reading = readFormula(formula, { fields: new Set(parameters) }, new PatternAllowance());
  const problem = reading.ok ? undefined : reading.problems[0];
  return problem && `${problem.message} (line ${problem.line}, column ${problem.column})`;
};

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((element) => typeof element === 'string');
