import { type FunctionValue } from '@decision/expressions';
import { PatternAllowance } from '../operators/pattern';
import { readFormula } from '../formula-reader';
import { isObject } from '../values/value-type';
import { type FunctionText, type StoredValue, type ValueSource } from './value-source';

/** A function value that cannot be called, by the name under which formulas call it; `fault` ends a sentence about it. */
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

/** A name is sought among all of them each time that a formula reads it. */
const MAX_PARAMETERS = 100;

/** The function that a value holds, or what is wrong with it, as the end of a sentence. */
export const functionTextOf = (stored: StoredValue | undefined): FunctionText | string => {
  if (stored === undefined) return 'does not exist';
  const { type, value } = stored;
  const isFunction = type === 'function' && isObject(value) && typeof value['formula'] === 'string';
  const parameters = isFunction ? value['parameters'] : undefined;
  if (!isFunction || !isTextList(parameters)) return 'is not a function of parameters and a formula';
  if (parameters.length > MAX_PARAMETERS) return `has more than ${MAX_PARAMETERS} parameters`;
  return { parameters, formula: String(value['formula']) };
};

/** The first fault of a function that is to be stored, as a sentence; undefined where there is none. Functions that it calls are not looked at: rules say which those are. */
export const checkFunctionText = ({ parameters, formula }: FunctionText): string | undefined => {
  const twice = parameters.find((name, index) => parameters.indexOf(name) !== index);
  if (twice !== undefined) return `The parameter "${twice}" stands twice; remove one.`;
  const reading = readFormula(formula, { fields: new Set(parameters) }, new PatternAllowance());
  const problem = reading.ok ? undefined : reading.problems[0];
  return problem && `${problem.message} (line ${problem.line}, column ${problem.column})`;
};

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((element) => typeof element === 'string');
