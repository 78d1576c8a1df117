import { checkFormula, compileFormula, type Formula, type FormulaProblem, parseFormula } from '@decision/expressions';
import { quoted } from '../facts/fact-name';
import { type Relationship } from './context-definition';
import { type DerivedModel, type FactModel } from './context-model';
import { type ContextProblem, MAX_CONTEXT_PROBLEMS } from './context-problem';
import { historyFunctions, readsOf } from './formula-reads';
import { type DerivedText } from './read-schema';
import { separateAggregates } from './separate-aggregates';

/** Names that formulas of a context may use. */
export interface FormulaSurroundings {
  readonly facts: ReadonlyMap<string, FactModel>;
  readonly derived: ReadonlyMap<string, DerivedText>;
  /** By name. */
  readonly relations: ReadonlyMap<string, Relationship>;
}

interface DerivedReading {
  /** Those whose formula has no problem, in the order of the schema. */
  readonly derived: ReadonlyMap<string, DerivedModel>;
  readonly problems: readonly ContextProblem[];
}

const ONE_ARGUMENT = { minimum: 1, maximum: 1 };
const hostFunctions = new Map(historyFunctions.map((name) => [name, ONE_ARGUMENT]));

/** Parses, checks and compiles the formulas of derived facts (C7). */
export const readDerived = (surroundings: FormulaSurroundings): DerivedReading => {
  const scope = {
    fields: new Set([...surroundings.facts.keys(), ...surroundings.derived.keys()]),
    functions: new Map(),
    references: new Set([...surroundings.relations.keys()].flatMap((name) => [`$${name}`, `$relations.${name}`])),
    hostFunctions,
  };
  const derived = new Map<string, DerivedModel>();
  const problems: ContextProblem[] = [];
  for (const text of surroundings.derived.values()) {
    if (problems.length >= MAX_CONTEXT_PROBLEMS) break;
    const parsing = parseFormula(text.expression);
    const found = parsing.ok ? checkFormula(parsing.formula, scope) : [parsing.problem];
    problems.push(...found.map((problem) => formulaProblem(text, problem)));
    if (!parsing.ok || found.length > 0) continue;
    const { key, type, defaultValue } = text;
    const model = { key, type, defaultValue, ...formulaModel(parsing.formula, surroundings.relations) };
    const others = problemsOfReads(model, text, surroundings.facts);
    problems.push(...others);
    if (others.length === 0) derived.set(key, model);
  }
  return { derived, problems };
};

const formulaModel = (formula: Formula, relations: FormulaSurroundings['relations']) => {
  const whole = { formula: compileFormula(formula), reads: readsOf(formula) };
  const { rest, aggregates } = separateAggregates(formula, relations);
  if (aggregates.length === 0) return { ...whole, aggregates, rest: whole };
  return { ...whole, aggregates, rest: { formula: compileFormula(rest), reads: readsOf(rest) } };
};

const formulaProblem = ({ key, path }: DerivedText, formula: FormulaProblem): ContextProblem => ({
  code: 'formula_invalid',
  path,
  message: `The formula of ${quoted(key)} cannot be used: ${formula.message}.`,
  formula,
});

const problemsOfReads = (
  { key, reads }: DerivedModel,
  { path }: DerivedText,
  facts: ReadonlyMap<string, FactModel>,
): ContextProblem[] => {
  const problems = reads.history
    .filter((fact) => fact === undefined || facts.get(fact)?.trackHistory !== true)
    .map((fact): ContextProblem => {
      const message =
        fact === undefined
          ? `The formula of ${quoted(key)} must name the fact of history or previous as a string.`
          : `The formula of ${quoted(key)} asks for the history of ${quoted(fact)}, which is not tracked: set track_history on that fact.`;
      return { code: 'history_untracked', path, message };
    });
  if (!reads.namesNoRelation) return problems;
  const message = `The formula of ${quoted(key)} must name a relationship after $relations.`;
  return [...problems, { code: 'formula_invalid', path, message }];
};
