import { type RuleTable } from '@decision/contracts';
import { type CompiledRule, compileRule, evaluateMany, evaluateRule, type RuleExplanation } from '@decision/engine';
import { countDisagreements } from './agreement';
import { handWritten } from './hand-written';
import { retainedBytes } from './memory';
import { measureInRounds, type RoundOptions, type Rounds, type Subject } from './rounds';
import { countPublishedDisagreements, measurePublished, type PublishedRounds } from './published-engine';
import { makeWorkload, type Workload, type WorkloadShape } from './workload';

/** Measurements of one table: times in ms per item, sizes in bytes. */
export interface TableResult {
  readonly shape: WorkloadShape;
  readonly index: Rounds;
  readonly scan: Rounds;
  readonly handWritten: Rounds;
  /** The fastest published engine; undefined for tables that are too large for it. */
  readonly published: PublishedRounds | undefined;
  /** An explanation is requested, but the reasons for losing rows are not read. */
  readonly explain: Rounds;
  /** The losing rows of the explanation are read, as objects. */
  readonly explainRead: Rounds;
  /** The explanation is written as JSON text, by itself and by `JSON.stringify`. */
  readonly explainText: Rounds;
  readonly explainStringify: Rounds;
  /**
   * The least that an explanation as text costs: an evaluation, and the same text from pieces that are there before. Each losing row is two
   * of them: its condition, and the value that it saw, which comes with the input and is the same piece for rows that saw the same.
   */
  readonly explainJoined: Rounds;
  readonly many: Rounds;
  readonly documentBytes: number;
  readonly compiledBytes: number;
  /** Inputs on which index, scan and hand-written lookup were compared, and those on which they differed. */
  readonly compared: number;
  readonly disagreements: number;
}

export interface TableOptions extends RoundOptions {
  readonly compared: number;
}

const OPTIONS = { now: Date.parse('2026-05-13T12:00:00Z') } as const;
const EXPLAIN = { ...OPTIONS, explain: 'brief' } as const;
/** A scan may take long for a single input. */
const SCANNED_INPUTS = 16;
/** That engine scans: larger tables would only cost waiting time. */
const PUBLISHED_ROWS = 10_000;
/** It is a hundred times slower, and its round must contain more than one chunk. */
const PUBLISHED_PATIENCE = 5;
/** Memory is measured over at least this many rows, in several copies of a small table. */
const COPIED_ROWS = 20_000;

export const measureTable = async (shape: WorkloadShape, options: TableOptions): Promise<TableResult> => {
  const { table, inputs } = makeWorkload(shape);
  const text = JSON.stringify(table);
  const scanned = compileRule(table, { search: 'scan' });
  const indexed = compileRule(table);
  const compared = inputs.slice(0, options.compared);
  const disagreements = countDisagreements(table, { indexed, scanned, inputs: compared });
  const rates = measureInRounds(evaluations({ table, inputs }, indexed, scanned), options);
  const of = (name: string): Rounds => {
    const rounds = rates.get(name);
    if (rounds === undefined) throw new RangeError(`Nothing was measured for ${name}.`);
    return rounds;
  };
  const lookup = handWritten(table);
  const isPublished = shape.rows <= PUBLISHED_ROWS;
  const publishedOptions = { ...options, milliseconds: options.milliseconds * PUBLISHED_PATIENCE };
  const copies = Math.ceil(COPIED_ROWS / shape.rows);
  return {
    shape,
    index: of('index'),
    scan: of('scan'),
    handWritten: of('hand-written'),
    published: isPublished ? await measurePublished({ table, inputs }, publishedOptions) : undefined,
    explain: of('explain'),
    explainRead: of('explain read'),
    explainText: of('explain text'),
    explainStringify: of('explain stringify'),
    explainJoined: of('explain joined'),
    many: of('many'),
    documentBytes: await retainedBytes(() => JSON.parse(text), copies),
    compiledBytes: await retainedBytes(() => compileRule(JSON.parse(text) as RuleTable), copies), // a table that was made above
    compared: compared.length,
    disagreements: disagreements + (isPublished ? await countPublishedDisagreements({ table, inputs }, lookup) : 0),
  };
};

/** The last answer: results must be used, or the calls could be optimised away. */
let last: unknown;

const evaluations = ({ table, inputs }: Workload, indexed: CompiledRule, scanned: CompiledRule): readonly Subject[] => {
  const lookup = handWritten(table);
  const items = inputs.length;
  const few = inputs.slice(0, SCANNED_INPUTS);
  const pieces = new Map(inputs.map((input) => [input, piecesOf(indexed, input)]));
  return [
    { name: 'index', items, run: () => { for (const input of inputs) last = evaluateRule(indexed, input, OPTIONS); } },
    { name: 'hand-written', items, run: () => { for (const input of inputs) last = lookup(input); } },
    { name: 'many', items, run: () => { last = evaluateMany(indexed, inputs, OPTIONS); } },
    { name: 'explain', items, run: () => { for (const input of inputs) last = evaluateRule(indexed, input, EXPLAIN); } },
    { name: 'explain read', items: few.length, run: () => { for (const input of few) last = lostRows(indexed, input); } },
    { name: 'explain text', items, run: () => { for (const input of inputs) last = textOf(indexed, input, (explanation) => explanation.text()); } },
    { name: 'explain joined', items, run: () => { for (const [input, texts] of pieces) last = joined(indexed, input, texts); } },
    { name: 'explain stringify', items: few.length, run: () => { for (const input of few) last = textOf(indexed, input, JSON.stringify); } },
    { name: 'scan', items: few.length, run: () => { for (const input of few) last = evaluateRule(scanned, input, OPTIONS); } },
  ]; // prettier-ignore
};

type Input = Workload['inputs'][number];

const lostRows = (rule: CompiledRule, input: Input): unknown => explanationOf(rule, input).lost;

const explanationOf = (rule: CompiledRule, input: Input): RuleExplanation => {
  const outcome = evaluateRule(rule, input, EXPLAIN);
  if (outcome.ok && outcome.explanation !== undefined) return outcome.explanation;
  throw new RangeError('There is no explanation.');
};

/** The last character of an explanation's text. */
const textOf = (rule: CompiledRule, input: Input, write: (explanation: RuleExplanation) => string): number =>
  lastOf(write(explanationOf(rule, input)));

/** Reading it joins a text of many pieces, as its sender must. */
const lastOf = (text: string): number => text.charCodeAt(text.length - 1);

/** The text of an explanation, cut before each value and after each losing row. Equal pieces are one text. */
const piecesOf = (rule: CompiledRule, input: Input): readonly string[] => {
  const distinct = new Map<string, string>();
  const pieces = explanationOf(rule, input)
    .text()
    .split(/(?=,"value":)|(?<=\})(?=,)/);
  return pieces.map((piece) => {
    const known = distinct.get(piece) ?? Buffer.from(piece).toString(); // a text of its own instead of a part of the whole one
    distinct.set(piece, known);
    return known;
  });
};

const joined = (rule: CompiledRule, input: Input, pieces: readonly string[]): number => {
  last = evaluateRule(rule, input, OPTIONS);
  let text = '';
  for (const piece of pieces) text += piece;
  return lastOf(text);
};

/** Only prevents measured work from being optimised away. */
export const lastAnswer = (): unknown => last;
