import { nearName } from '@decision/expressions';
import { type ContextModel, type FactModel } from '../definitions/context-model';
import { expectedOf, faultOfStoring, fitsType, kindOfValue } from '../facts/fact-type';
import { type Facts, faultOfFactName, quoted } from '../facts/facts';

/** Members of a collection of values; undefined if there is no such collection. */
export type Collections = (name: string) => ReadonlySet<unknown> | undefined;

/** A fact of a record that does not fit. */
export interface Mismatch {
  readonly fact: string;
  readonly because: 'undeclared' | 'wrong_type' | 'output_only' | 'derived' | 'not_in_collection' | 'unstorable';
  /** A sentence that names the fact. */
  readonly error: string;
}

type RecordCheck =
  | {
      readonly ok: true;
      /** Facts to merge, without the identity. */
      readonly facts: Facts;
      /** Ignored facts, at most {@link MOST_MISMATCHES} of them. */
      readonly ignored: readonly Mismatch[];
      readonly ignoredCount: number;
    }
  /** Number of ignored facts, of which at most {@link MOST_MISMATCHES} are listed. */
  | { readonly ok: false; readonly mismatches: readonly Mismatch[]; readonly count: number };

/**
 * Maximum of listed mismatches per record; further ones are counted. The answer to a record of a million unknown facts must not be twenty
 * times its size.
 */
export const MOST_MISMATCHES = 100;

/** Decides which facts of a record are merged (C21 to C28). The identity fact is skipped, since it was checked when the id was read. */
export const checkRecord = (
  model: ContextModel,
  record: Facts,
  collections: Collections,
  near = new NearFacts(model),
): RecordCheck => {
  const policy = model.definition.onSchemaMismatch;
  const accepted: [string, unknown][] = [];
  const mismatches: Mismatch[] = [];
  let count = 0;
  for (const [fact, value] of Object.entries(record)) {
    if (fact === model.identity.key) continue;
    const isKnown = model.facts.has(fact) || model.derived.has(fact);
    const isTold = mismatches.length < MOST_MISMATCHES;
    if (!isTold && !isKnown && policy !== 'store') {
      count += 1;
      continue;
    }
    const mismatch = mismatchOf(model, fact, value, collections);
    if (mismatch === undefined || (policy === 'store' && mismatch.because === 'undeclared')) {
      accepted.push([fact, value]);
      continue;
    }
    count += 1;
    if (isTold) mismatches.push(mismatch.because === 'undeclared' ? undeclared(fact, near) : mismatch);
  }
  if (count > 0 && policy !== 'ignore') return { ok: false, mismatches, count };
  return { ok: true, facts: Object.fromEntries(accepted), ignored: mismatches, ignoredCount: count };
};

/** Maximum of mismatches that the rejection of one record lists. */
const LISTED_MISMATCHES = 5;

/** Mismatches as one text; `count` is the number of all, listed or not. */
export const sentenceOf = (
  mismatches: readonly Pick<Mismatch, 'error'>[],
  count: number = mismatches.length,
): string => {
  const listed = mismatches.slice(0, LISTED_MISMATCHES).map(({ error }) => error);
  const more = count - listed.length;
  return [...listed, ...(more > 0 ? [`${more} more facts do not fit.`] : [])].join(' ');
};

const undeclared = (fact: string, near?: NearFacts): Mismatch => {
  const meant = near?.of(fact);
  const hint = meant === undefined ? '.' : `; did you mean ${quoted(meant)}?`;
  return { fact, because: 'undeclared', error: `The context has no fact ${quoted(fact)}${hint}` };
};

const mismatchOf = (
  model: ContextModel,
  fact: string,
  value: unknown,
  collections: Collections,
): Mismatch | undefined => {
  const unstorable = faultOfFactName(fact) ?? faultOfStoring(value);
  if (unstorable !== undefined)
    return { fact, because: 'unstorable', error: `The fact ${quoted(fact)} ${unstorable}.` };
  if (model.derived.has(fact))
    return { fact, because: 'derived', error: `The fact ${quoted(fact)} is derived and cannot be given.` };
  const declared = model.facts.get(fact);
  if (declared === undefined) return undeclared(fact);
  if (declared.outputOnly) {
    return {
      fact,
      because: 'output_only',
      error: `The fact ${quoted(fact)} is output_only: only bound rules and flows write it.`,
    };
  }
  return mismatchOfValue(declared, value, collections);
};

/** Why a value does not fit a declared fact; also used for outputs of assets. */
export const mismatchOfValue = (
  declared: FactModel,
  value: unknown,
  collections: Collections,
): Mismatch | undefined => {
  const { key: fact, type, collection } = declared;
  if (!fitsType(value, type)) {
    const error = `The fact ${quoted(fact)} must be ${expectedOf[type]}, not ${kindOfValue(value)}.`;
    return { fact, because: 'wrong_type', error };
  }
  if (collection === undefined || value === null) return undefined;
  const members = collections(collection);
  const sought = Array.isArray(value) ? value : [value];
  if (sought.every((member) => members?.has(member) === true)) return undefined;
  const error = `The fact ${quoted(fact)} must hold values of the collection ${quoted(collection)} only.`;
  return { fact, because: 'not_in_collection', error };
};

/** Whether a value is a record at all: an object, neither null nor a list. */
export const isRecord = (value: unknown): value is Facts =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Characters that are compared in total, for all names together: some 50 ms. Names beyond it get no suggestion. */
const MOST_COMPARED = 4_000_000;
/** Longer names are not compared, and shorter ones are close to too many. */
const LONGEST = 64;
const SHORTEST = 3;

/** Suggests a fact that can be given for a misspelt name. One finder serves all records of a request, and bounds their total cost. */
export class NearFacts {
  private readonly names: readonly string[];
  private readonly characters: number;
  private readonly found = new Map<string, string | undefined>();
  private compared = 0;

  constructor({ facts }: ContextModel) {
    this.names = [...facts.values()].filter(({ outputOnly }) => !outputOnly).map(({ key }) => key);
    this.characters = this.names.reduce((sum, { length }) => sum + Math.min(length, LONGEST), 0);
  }

  of(name: string): string | undefined {
    if (name.length < SHORTEST || name.length > LONGEST) return undefined;
    if (this.found.has(name)) return this.found.get(name);
    const cost = name.length * (this.characters + this.names.length);
    if (this.compared + cost > MOST_COMPARED) return undefined;
    this.compared += cost;
    const meant = nearName(name, this.names);
    this.found.set(name, meant);
    return meant;
  }
}
