import {
  type CompiledFormula,
  FormulaAllowance,
  FormulaFault,
  type FormulaProblem,
  type HostFunction,
  runFormula,
} from '@decision/expressions';
import { type ContextModel, type DerivedModel } from '../definitions/context-model';
import { faultOfStoring, fitsType, kindOfValue } from '../facts/fact-type';
import { type Facts, sameValue, valueOf } from '../facts/facts';
import { type Aggregates, faultOfList, valueOfAggregate } from './aggregates';

/** Related instances by the name of the relationship: one or null, or a list ordered by id (C41). */
export type RelatedInstances = Readonly<Record<string, Facts | null | readonly Facts[]>>;

/** Inputs of derived facts besides the facts of their instance. */
export interface DerivationSources {
  /** Epoch ms: what `now()` answers. */
  readonly now: number;
  readonly related: RelatedInstances;
  /** Aggregates over relationships. Missing ones are computed from the list of their relationship. */
  readonly aggregates?: Aggregates | undefined;
  /** Entries newest first, including the current change. Default: none. */
  readonly history?: HistorySource;
}

/** A derived fact whose formula failed. */
export interface DerivationFailure {
  readonly fact: string;
  /** Without values. */
  readonly error: string;
  readonly problem?: FormulaProblem;
}

interface Derivation {
  /** Derived facts that have a value. */
  readonly derived: Facts;
  readonly failures: readonly DerivationFailure[];
}

/** Limits of all formulas of one instance together (C44), per computation. */
const derivationAllowance = { steps: 2_000_000, textLength: 4_000_000 } as const;

/**
 * Computes the derived facts of an instance (C40 to C44) from its base facts, including defaults. A fact whose formula fails has its
 * default or no value, and the facts that read it use that.
 */
export const deriveFacts = (model: ContextModel, base: Facts, sources: DerivationSources): Derivation => {
  if (model.derived.size === 0) return NOTHING_DERIVED;
  const known = new Map<string, unknown>(Object.entries(base));
  const allowance = new FormulaAllowance(derivationAllowance);
  const lookup = (key: string): unknown => (key.startsWith('$') ? relatedOf(key, sources) : known.get(key));
  const hostFunctions = historyHost(sources.history ?? noHistory);
  const failures: DerivationFailure[] = [];
  const derived: [string, unknown][] = [];
  for (const fact of model.derived.values()) {
    const surroundings = { now: sources.now, lookup, hostFunctions, allowance };
    const answer = answerOf(fact, withAggregates(fact, sources.aggregates, surroundings));
    if ('error' in answer) failures.push({ fact: fact.key, ...answer });
    const value = 'error' in answer ? fact.defaultValue : (answer.value ?? fact.defaultValue);
    known.set(fact.key, value);
    if (value !== null) derived.push([fact.key, value]);
  }
  return { derived: Object.fromEntries(derived), failures };
};

const NOTHING_DERIVED: Derivation = { derived: {}, failures: [] };

interface FormulaSurroundings {
  readonly now: number;
  readonly lookup: (key: string) => unknown;
  readonly hostFunctions: ReadonlyMap<string, HostFunction>;
  readonly allowance: FormulaAllowance;
}

interface FormulaToRun extends FormulaSurroundings {
  readonly formula: CompiledFormula;
}

/** The formula with precomputed aggregates; the whole formula if one is missing. */
const withAggregates = (
  { formula, aggregates, rest }: DerivedModel,
  given: Aggregates | undefined,
  surroundings: FormulaSurroundings,
): FormulaToRun => {
  const found = new Map(
    aggregates.flatMap((aggregate): [string, () => unknown][] => {
      const answers =
        given !== undefined && Object.hasOwn(given, aggregate.relation) ? given[aggregate.relation] : undefined;
      const answer = answers?.answers[aggregate.key];
      return answer === undefined ? [] : [[aggregate.key, () => valueOfAggregate(answer, aggregate)]];
    }),
  );
  if (found.size === 0 || found.size < aggregates.length) return { ...surroundings, formula };
  return {
    ...surroundings,
    formula: rest.formula,
    lookup: (key) => (found.get(key) ?? (() => surroundings.lookup(key)))(),
  };
};

type Answer = { readonly value: unknown } | { readonly error: string; readonly problem?: FormulaProblem };

const answerOf = ({ type }: DerivedModel, { formula, ...surroundings }: FormulaToRun): Answer => {
  const outcome = runFormula(formula, surroundings);
  if (!outcome.ok) return { error: outcome.problem.message, problem: outcome.problem };
  const { value } = outcome;
  if (faultOfStoring(value) !== undefined) return { error: 'the formula answers a value that cannot be stored' };
  if (type === undefined || fitsType(value, type)) return { value };
  return { error: `the formula answers ${kindOfValue(value)} instead of a ${type}` };
};

const PREFIX = '$relations.';

const relatedOf = (key: string, { related, aggregates }: DerivationSources): unknown => {
  const name = key.startsWith(PREFIX) ? key.slice(PREFIX.length) : key.slice(1);
  const fault = faultOfList(aggregates, name);
  if (fault !== undefined) throw new FormulaFault('list_too_long', fault);
  return Object.hasOwn(related, name) ? related[name] : undefined;
};

const factOf = (values: readonly unknown[], name: string): string => {
  const [fact] = values;
  if (typeof fact === 'string') return fact;
  throw new FormulaFault('wrong_type', `${name} takes the name of a fact in quotes`);
};

const shown = ({ timestamp, value }: HistoryEntry): unknown => ({
  timestamp: new Date(timestamp).toISOString(),
  value,
});

/** `history('fact')` and `previous('fact')` over entries that already include the current change (C43). */
const historyHost = (history: HistorySource): ReadonlyMap<string, HostFunction> =>
  new Map<string, HostFunction>([
    ['history', { minimum: 1, maximum: 1, call: (values) => history(factOf(values, 'history')).map(shown) }],
    ['previous', { minimum: 1, maximum: 1, call: (values) => history(factOf(values, 'previous'))[1]?.value ?? null }],
  ]);

/** One committed value of a tracked fact. */
interface HistoryEntry {
  /** Epoch ms. */
  readonly timestamp: number;
  readonly value: unknown;
}

/** Stored entries of a fact, newest first; none if nothing is stored. */
export type HistorySource = (fact: string) => readonly HistoryEntry[];

export const noHistory: HistorySource = () => [];

/**
 * The entries that a change of an instance adds (C100): one for each tracked fact whose value has changed. For a new instance, one for each
 * tracked fact that has a value.
 */
export const historyOfChange = (
  { trackedFacts }: Pick<ContextModel, 'trackedFacts'>,
  before: Facts,
  after: Facts,
  now: number,
): ReadonlyMap<string, HistoryEntry> => {
  if (trackedFacts.length === 0) return NO_CHANGE;
  const entries = new Map<string, HistoryEntry>();
  for (const fact of trackedFacts) {
    const value = valueOf(after, fact);
    if (!sameValue(valueOf(before, fact), value)) entries.set(fact, { timestamp: now, value });
  }
  return entries;
};

const NO_CHANGE: ReadonlyMap<string, HistoryEntry> = new Map();

/** Committed entries behind those of a change that is not committed. */
export const withChange = (changes: ReadonlyMap<string, HistoryEntry>, committed: HistorySource): HistorySource => {
  if (changes.size === 0) return committed;
  return (fact) => {
    const entry = changes.get(fact);
    return entry === undefined ? committed(fact) : [entry, ...committed(fact)];
  };
};
