import { type FieldType } from '@decision/contracts';
import { lengthOfText } from '@decision/values';
import { MAX_KEYS_OF_CELL } from '../index/column-statistics';
import { type DerivedField, isPointType } from '../match/frame';
import { VersionRanking } from '../match/ranks';
import { backwards, endOfPrefix, TextRanking } from '../match/text-ranking';
import {
  type Comparison,
  type Condition,
  type Form,
  test,
  testOf,
  type ValueTest,
  within,
} from '../operators/condition';
import { parseVersion, type Version } from '../operators/version';
import { fold } from '../values/equality';
import { type ReadingCost } from './rule-search';

/** A condition on an input. */
export interface FormCell {
  /** Position of the input. */
  readonly field: number;
  readonly condition: Condition;
  /** Cost of a test for one character, element or member of the value, ns. */
  readonly readingCost: number;
}

/** A condition as a comparison on one field of the frame. */
interface PlacedCell {
  readonly field: number;
  readonly comparison: Comparison;
}

/** With fewer ordered conditions they stay tests: ranks would save nothing. */
const MIN_RANKED = 5;
/** Nanoseconds per character for each instruction of a regular expression: usually one, at worst 50. */
const PATTERN_STEP = 20;

type Ordered = Extract<Condition, { readonly kind: 'starts with' | 'ends with' | 'versions' }>;

/** Bounds of the ordered conditions on one field of the frame. */
interface Bounds {
  count: number;
  readonly texts: string[];
  readonly versions: Version[];
}

type Ranked =
  | { readonly field: number; readonly texts: TextRanking; readonly versions?: undefined }
  | { readonly field: number; readonly versions: VersionRanking; readonly texts?: undefined };

/**
 * The fields of a rule's frame: its inputs, followed by the forms that its conditions compare. Ordered conditions that are not on numbers
 * (prefixes, suffixes, versions) become ranges of ranks among all bounds of their form; a test shared by several cells becomes a separate
 * boolean field. Without an index both stay tests of their form, the reference for an index.
 */
export class FormFields {
  readonly derived: DerivedField[] = [];
  /** By field of the frame: whether its values are points. */
  readonly isPoint: boolean[];
  /** By field of the frame: the input from which it is derived. */
  readonly inputs: number[];
  /** By input: the cost of reading its value for all placed conditions. */
  readonly costs = new Map<number, ReadingCost>();
  rankingBytes = 0;
  private readonly types: readonly FieldType[];
  private readonly forms = new Map<string, number>();
  private readonly bounds = new Map<string, Bounds>();
  private readonly ranked = new Map<string, Ranked>();
  /** Tests that more than one cell of a field uses; the field of their result once it is known. */
  private readonly shared = new Map<number, Map<ValueTest<unknown>, number | undefined>>();
  private readonly setTests = new Map<Condition, ValueTest<unknown>>();

  constructor(types: readonly FieldType[], cells: readonly FormCell[], isIndexed: boolean) {
    this.types = types;
    this.isPoint = types.map(isPointType);
    this.inputs = types.map((_type, position) => position);
    if (!isIndexed) return;
    for (const { field, condition } of cells) if (isOrdered(condition)) this.noteBounds(field, condition);
    this.findShared(cells);
  }

  /** Finds the field of the frame for a cell; called once for each. */
  place(cell: FormCell): PlacedCell {
    const { field, condition } = cell;
    const ranked = isOrdered(condition) ? this.rank(field, condition) : undefined;
    if (ranked !== undefined) return ranked;
    const base = this.fieldOfForm(field, condition.form);
    if (condition.kind === 'test') return this.placeTest(base, condition.test, cell);
    const asked = this.setTests.get(condition);
    // Hashing a value costs nothing compared with reading it.
    if (asked !== undefined && this.shared.get(field)?.has(asked) === true)
      return this.placeTest(base, asked, { ...cell, readingCost: 0 });
    return isOrdered(condition)
      ? this.placeTest(base, testOf(condition), cell)
      : { field: base, comparison: condition };
  }

  private placeTest(base: number, asked: ValueTest<unknown>, { field, condition, readingCost }: FormCell): PlacedCell {
    const steps = condition.kind === 'test' ? condition.costPerCharacter : undefined;
    const cost = steps === undefined ? readingCost : steps * PATTERN_STEP;
    const shared = this.shared.get(field);
    const known = shared?.get(asked);
    if (known !== undefined) return { field: known, comparison: TRUE };
    this.addCost(field, cost);
    if (shared?.has(asked) !== true) return { field: base, comparison: test(asked) };
    const truth = this.derive(field, { base, isPoint: true, derive: asked });
    shared.set(asked, truth);
    return { field: truth, comparison: TRUE };
  }

  /** A condition as a range of ranks among all conditions with its order; undefined if they are few, or none is ranked. */
  private rank(field: number, condition: Ordered): PlacedCell | undefined {
    const key = this.keyOfOrder(field, condition);
    const bounds = this.bounds.get(key);
    if (bounds === undefined || bounds.count < MIN_RANKED) return undefined;
    const known = this.ranked.get(key) ?? this.addRanking(key, field, condition, bounds);
    const [low, high] = ranksOf(condition, known);
    return { field: known.field, comparison: within(low, high) };
  }

  private addRanking(key: string, field: number, { kind, form }: Ordered, bounds: Bounds): Ranked {
    const base = kind === 'versions' ? field : this.fieldOfForm(field, form);
    const ranking =
      kind === 'versions' ? new VersionRanking(bounds.versions) : new TextRanking(bounds.texts, kind === 'ends with');
    this.rankingBytes += ranking.bytes;
    const rankedField = this.derive(field, {
      base,
      isPoint: true,
      derive: (value) => ranking.rankOf(value as string), // only conditions on strings are ranked
    });
    const ranked =
      ranking instanceof TextRanking
        ? { field: rankedField, texts: ranking }
        : { field: rankedField, versions: ranking };
    this.ranked.set(key, ranked);
    return ranked;
  }

  private noteBounds(field: number, condition: Ordered): void {
    const key = this.keyOfOrder(field, condition);
    const bounds = this.bounds.get(key) ?? { count: 0, texts: [], versions: [] };
    this.bounds.set(key, bounds);
    bounds.count += 1;
    if (condition.kind === 'versions') {
      if (condition.from !== undefined) bounds.versions.push(condition.from.version);
      if (condition.to !== undefined) bounds.versions.push(condition.to.version);
      return;
    }
    const prefix = prefixOf(condition);
    const end = endOfPrefix(prefix);
    bounds.texts.push(prefix, ...(end === undefined ? [] : [end]));
  }

  private keyOfOrder(field: number, { kind, form = 'value' }: Ordered): string {
    return `${field} ${form} ${kind}`;
  }

  private findShared(cells: readonly FormCell[]): void {
    const seen = new Map<number, Set<ValueTest<unknown>>>();
    for (const { field, condition } of cells) {
      const asked = condition.kind === 'test' ? condition.test : this.testOfSet(condition);
      if (asked === undefined) continue;
      const known = seen.get(field) ?? new Set();
      seen.set(field, known);
      if (!known.has(asked)) known.add(asked);
      else this.noteShared(field, asked);
    }
  }

  /**
   * A large set as one test. Cells that refer to the same value share one condition: an index would expand its members for each cell, so that a
   * value of 100,000 members in 5,000 rows would make 500 million entries.
   */
  private testOfSet(condition: Condition): ValueTest<unknown> | undefined {
    if (condition.kind !== 'among' && condition.kind !== 'not among') return undefined;
    if (condition.values.size <= MAX_KEYS_OF_CELL) return undefined;
    const asked = this.setTests.get(condition) ?? testOf(condition);
    this.setTests.set(condition, asked);
    return asked;
  }

  private noteShared(field: number, asked: ValueTest<unknown>): void {
    const tests = this.shared.get(field) ?? new Map<ValueTest<unknown>, number | undefined>();
    this.shared.set(field, tests.set(asked, undefined));
  }

  /** The field of the frame with a form of an input. */
  private fieldOfForm(field: number, form: Form = 'value'): number {
    if (form === 'value') return field;
    const key = `${field} ${form}`;
    const known = this.forms.get(key);
    if (known !== undefined) return known;
    const { isPoint, derive, cost } = (this.types[field] === 'list' ? LIST_FORMS : TEXT_FORMS)[form];
    this.addCost(field, cost);
    const added = this.derive(field, { base: field, isPoint, derive });
    this.forms.set(key, added);
    return added;
  }

  private derive(input: number, made: DerivedField): number {
    this.derived.push(made);
    this.inputs.push(input);
    return this.isPoint.push(made.isPoint) - 1;
  }

  private addCost(field: number, cost: number): void {
    const known = this.costs.get(field) ?? { perUnit: 0, readers: 0 };
    this.costs.set(field, { perUnit: known.perUnit + cost, readers: known.readers + 1 });
  }
}

const TRUE = within(1, 1);

const isOrdered = (condition: Condition): condition is Ordered =>
  condition.kind === 'starts with' || condition.kind === 'ends with' || condition.kind === 'versions';

/** The text of a prefix or suffix, in the direction in which its ranking compares it. */
const prefixOf = ({ kind, text }: Exclude<Ordered, { readonly kind: 'versions' }>): string =>
  kind === 'ends with' ? backwards(text) : text;

const ranksOf = (condition: Ordered, { texts, versions }: Ranked): readonly [low: number, high: number] => {
  if (condition.kind !== 'versions') return texts?.ranksOfPrefix(prefixOf(condition)) ?? NO_RANKS;
  const rank = (version: Version): number => versions?.rankOfVersion(version) ?? Number.NaN;
  const { from, to } = condition;
  return [
    from === undefined ? -Infinity : rank(from.version) + (from.isIncluded ? 0 : 1),
    to === undefined ? Infinity : rank(to.version) - (to.isIncluded ? 0 : 1),
  ];
};

/** Matches nothing; no condition has the ranking of another kind. */
const NO_RANKS = [Number.NaN, Number.NaN] as const;

interface FormDefinition {
  readonly isPoint: boolean;
  readonly derive: (value: unknown) => unknown;
  /** Nanoseconds for one character, at worst. */
  readonly cost: number;
}

type DerivedForm = Exclude<Form, 'value'>;

/** Only conditions on texts use these forms. */
const ofText = (derive: (text: string) => unknown) => (value: unknown) => derive(value as string); // as said above

const TEXT_FORMS: Readonly<Record<DerivedForm, FormDefinition>> = {
  folded: { isPoint: false, derive: ofText(fold), cost: 20 },
  length: { isPoint: true, derive: ofText(lengthOfText), cost: 2 },
  // Texts longer than 256 characters are not versions.
  version: { isPoint: false, derive: ofText(parseVersion), cost: 0 },
};

const LIST_FORMS: Readonly<Record<DerivedForm, FormDefinition>> = {
  ...TEXT_FORMS,
  length: { isPoint: true, derive: (value) => (Array.isArray(value) ? value.length : Number.NaN), cost: 0 },
};
