import { type BaseFact, type ContextSchema, type DerivedType, type FactType } from '@decision/contracts';
import { checkFormula, compileFormula, type Formula, type FormulaProblem, parseFormula } from '@decision/expressions';
import { expectedOf, faultOfStoring, fitsType } from '../facts/fact-type';
import { faultOfFactName, quoted } from '../facts/facts';
import { type IdentityFact } from '../facts/instance-id';
import {
  type ContextProblem,
  type ContextProblemCode,
  type DerivedModel,
  type FactModel,
  MAX_CONTEXT_PROBLEMS,
  type Relationship,
} from './context-model';
import { readsOf } from './formula-reads';
import { hostFunctions } from './host-functions';
import { separateAggregates } from './separate-aggregates';

/** A derived fact whose formula has not been parsed yet. */
interface DerivedText {
  readonly key: string;
  readonly type: DerivedType | undefined;
  readonly defaultValue: unknown;
  readonly expression: string;
  /** JSON pointer of its expression. */
  readonly path: string;
}

/** The content of a schema, and those of its problems that are visible without parsing formulas. */
interface SchemaReading {
  readonly facts: ReadonlyMap<string, FactModel>;
  readonly derived: ReadonlyMap<string, DerivedText>;
  readonly identity: IdentityFact | undefined;
  readonly problems: readonly ContextProblem[];
}

/** Reads a schema (C2 to C6). Faulty facts are left out of the maps, so that later checks report only their own problems. */
export const readSchema = (schema: ContextSchema, identityFact: string): SchemaReading =>
  new SchemaReader().read(schema, identityFact);

class SchemaReader {
  private readonly problems: ContextProblem[] = [];
  private readonly names = new Set<string>();
  private readonly facts = new Map<string, FactModel>();
  private readonly derived = new Map<string, DerivedText>();

  read(schema: ContextSchema, identityFact: string): SchemaReading {
    schema.base.forEach((fact, index) => this.readBase(fact, `/schema/base/${index}`));
    schema.derived?.forEach(({ key, type, default_value, expression }, index) => {
      const path = `/schema/derived/${index}`;
      if (!this.takeName(key, path)) return;
      this.checkDefault(default_value, type, path);
      this.derived.set(key, { key, type, defaultValue: default_value ?? null, expression, path: `${path}/expression` });
    });
    const identity = this.readIdentity(identityFact);
    return { facts: this.facts, derived: this.derived, identity, problems: this.problems };
  }

  private readBase(fact: BaseFact, path: string): void {
    if (!this.takeName(fact.key, path)) return;
    const { key, type, expression, default_value: defaultValue = null } = fact;
    if (type === 'function') return this.readFunction(fact, path);
    if (typeof expression === 'string') {
      this.report(
        'expression_misplaced',
        `${path}/expression`,
        `The fact ${quoted(key)} has an expression: make it derived, or of type function.`,
      );
    }
    this.checkDefault(defaultValue, type, path);
    this.checkCollection(fact, type, path);
    this.facts.set(key, {
      key,
      type,
      required: fact.required ?? false,
      outputOnly: fact.output_only ?? false,
      trackHistory: fact.track_history ?? false,
      collection: fact.values_only === true ? (fact.values_collection ?? undefined) : undefined,
      defaultValue,
    });
  }

  private readFunction(fact: BaseFact, path: string): void {
    const { key, expression, default_value: defaultValue = null } = fact;
    this.checkDefault(defaultValue, undefined, path);
    if (typeof expression !== 'string') {
      return this.report(
        'expression_misplaced',
        path,
        `The fact ${quoted(key)} is of type function and needs an expression.`,
      );
    }
    for (const setting of ['required', 'output_only', 'track_history', 'values_only'] as const) {
      if (fact[setting] === true) {
        this.report(
          'setting_misplaced',
          `${path}/${setting}`,
          `The fact ${quoted(key)} is derived and cannot be ${setting}.`,
        );
      }
    }
    this.derived.set(key, { key, type: undefined, defaultValue, expression, path: `${path}/expression` });
  }

  private takeName(key: string, path: string): boolean {
    const fault = faultOfFactName(key);
    if (fault !== undefined) this.report('invalid_name', `${path}/key`, `The fact name ${quoted(key)} ${fault}.`);
    else if (this.names.has(key)) this.report('duplicate_name', `${path}/key`, `The fact ${quoted(key)} exists twice.`);
    else return this.names.add(key).has(key);
    return false;
  }

  private checkDefault(value: unknown, type: FactType | undefined, path: string): void {
    if (value === undefined) return;
    const unstorable = faultOfStoring(value);
    const isWrong = type !== undefined && !fitsType(value, type);
    if (unstorable === undefined && !isWrong) return;
    const message = isWrong ? `The default must be ${expectedOf[type]}.` : `The default ${unstorable}.`;
    this.report('default_mismatch', `${path}/default_value`, message);
  }

  private checkCollection(fact: BaseFact, type: FactType, path: string): void {
    if (fact.values_only !== true) return;
    const hasType = type === 'string' || type === 'number' || type === 'boolean' || type === 'list';
    if (hasType && (fact.values_collection ?? '') !== '') return;
    const message = hasType
      ? `The fact ${quoted(fact.key)} is values_only and needs values_collection.`
      : `A fact of type ${type} cannot be values_only.`;
    this.report('collection_unsuitable', `${path}/values_collection`, message);
  }

  private readIdentity(name: string): IdentityFact | undefined {
    const fact = this.facts.get(name);
    if (fact === undefined) {
      this.report('identity_unknown', '/identity_fact', `The identity fact ${quoted(name)} is no base fact.`);
      return undefined;
    }
    const { key, type, outputOnly, collection, defaultValue } = fact;
    if ((type !== 'string' && type !== 'number') || outputOnly || collection !== undefined || defaultValue !== null) {
      const message = `The identity fact ${quoted(key)} must be a string or number, without a default, and neither output_only nor values_only.`;
      this.report('identity_unsuitable', '/identity_fact', message);
      return undefined;
    }
    return { key, type };
  }

  private report(code: ContextProblemCode, path: string, message: string): void {
    if (this.problems.length < MAX_CONTEXT_PROBLEMS) this.problems.push({ code, path, message });
  }
}

/** Names that formulas of a context may use. */
export interface FormulaSurroundings {
  readonly facts: ReadonlyMap<string, FactModel>;
  readonly derived: ReadonlyMap<string, DerivedText>;
  /** By name. */
  readonly relations: ReadonlyMap<string, Relationship>;
}

interface DerivedReading {
  /** Facts whose formula has no problem, in the order of the schema. */
  readonly derived: ReadonlyMap<string, DerivedModel>;
  readonly problems: readonly ContextProblem[];
}

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
