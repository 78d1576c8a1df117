import { FormulaAllowance, type FormulaProblem, type HostFunction, runFormula } from '@decision/expressions';
import { type ContextModel, type DerivedModel } from '../definitions/context-model';
import { fitsType, kindOfValue } from '../facts/fact-type';
import { type Facts } from '../facts/facts';
import { type HistorySource, noHistory } from './history';
import { historyHost } from './host-functions';
import { faultOfStoring } from '../facts/storable';

/** Related instances by the name of the relationship: one or null, or a list in order of ids (C41). */
export type RelatedInstances = Readonly<Record<string, Facts | null | readonly Facts[]>>;

/** What derived facts are computed from, beside the facts of their instance. */
export interface DerivationSources {
  /** Epoch ms: what `now()` answers. */
  readonly now: number;
  readonly related: RelatedInstances;
  /** Entries newest first, the change under way among them. Default: none. */
  readonly history?: HistorySource;
}

/** A derived fact that its formula did not answer. */
export interface DerivationFailure {
  readonly fact: string;
  /** Without values. */
  readonly error: string;
  readonly problem?: FormulaProblem;
}

export interface Derivation {
  /** Derived facts that have a value. */
  readonly derived: Facts;
  readonly failures: readonly DerivationFailure[];
}

/** What all formulas of one instance may take together (C44), in each computation of them. */
export const derivationAllowance = { steps: 2_000_000, textLength: 4_000_000 } as const;

/**
 * Computes the derived facts of an instance (C40 to C44) from its base facts, defaults among them. A formula that fails leaves its fact without
 * a value, or with its default; those that read it go on with that.
 */
export const deriveFacts = (model: ContextModel, base: Facts, sources: DerivationSources): Derivation => {
  const known = new Map<string, unknown>(Object.entries(base));
  const allowance = new FormulaAllowance(derivationAllowance);
  const lookup = (key: string): unknown => (key.startsWith('$') ? relatedOf(key, sources.related) : known.get(key));
  const hostFunctions = historyHost(sources.history ?? noHistory);
  const failures: DerivationFailure[] = [];
  const derived: [string, unknown][] = [];
  for (const fact of model.derived.values()) {
    const answer = answerOf(fact, { now: sources.now, lookup, hostFunctions, allowance });
    if ('error' in answer) failures.push({ fact: fact.key, ...answer });
    const value = 'error' in answer ? fact.defaultValue : (answer.value ?? fact.defaultValue);
    known.set(fact.key, value);
    if (value !== null) derived.push([fact.key, value]);
  }
  return { derived: Object.fromEntries(derived), failures };
};

interface FormulaSurroundings {
  readonly now: number;
  readonly lookup: (key: string) => unknown;
  readonly hostFunctions: ReadonlyMap<string, HostFunction>;
  readonly allowance: FormulaAllowance;
}

type Answer = { readonly value: unknown } | { readonly error: string; readonly problem?: FormulaProblem };

const answerOf = ({ formula, type }: DerivedModel, surroundings: FormulaSurroundings): Answer => {
  const outcome = runFormula(formula, surroundings);
  if (!outcome.ok) return { error: outcome.problem.message, problem: outcome.problem };
  const { value } = outcome;
  if (faultOfStoring(value) !== undefined) return { error: 'the formula answers what cannot be stored' };
  if (type === undefined || fitsType(value, type)) return { value };
  return { error: `the formula answers ${kindOfValue(value)} instead of a ${type}` };
};

const PREFIX = '$relations.';

const relatedOf = (key: string, related: RelatedInstances): unknown => {
  const name = key.startsWith(PREFIX) ? key.slice(PREFIX.length) : key.slice(1);
  return Object.hasOwn(related, name) ? related[name] : undefined;
};
