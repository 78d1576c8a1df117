import { type TableResult } from './measure-table';
import { type Rounds } from './rounds';

const HEAD = [
  'table', 'index, k/s', 'scan, k/s', 'hand-written, k/s', 'index / hand-written', 'explain asked, read', 'many', 'compiled / document',
]; // prettier-ignore

/** The results as markdown tables, with their noise. */
export const reportOf = (results: readonly TableResult[]): string =>
  [
    ...[noiseOf(results), '', ...tableOf(HEAD, results.map(rowOf))],
    ...['', ...tableOf(PUBLISHED_HEAD, results.flatMap(besidePublished))],
    ...['', ...tableOf(EXPLANATION_HEAD, results.map(explanationOf)), '', ...growthOf(results)],
  ].join('\n');

const tableOf = (head: readonly string[], rows: readonly string[]): readonly string[] => [
  row(head),
  row(head.map(() => '---')),
  ...rows,
];

const nameOf = ({ shape: { rows, columns, blanks, led } }: TableResult): string =>
  `${rows.toLocaleString('en')} x ${columns}, ${blanks * 100} % blank, ${led ? 'equality' : 'mixed'}`;

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Thousands of items per second, from ms per item. */
const rate = ({ median }: Rounds): string =>
  median > 0.1 ? (1 / median).toFixed(1) : Math.round(1 / median).toLocaleString('en');
const ratio = (a: number, b: number, digits = 2): string => (a / b).toFixed(digits);

export const rowOf = (result: TableResult): string => {
  const { index, scan, handWritten, explain, explainRead, many, documentBytes, compiledBytes } = result;
  return row([
    nameOf(result),
    rate(index),
    rate(scan),
    rate(handWritten),
    ratio(handWritten.median, index.median),
    `${ratio(explain.median, index.median, 1)}, ${ratio(explainRead.median, index.median, 0)}`,
    ratio(index.median, many.median),
    ratio(compiledBytes, documentBytes, 1),
  ]);
};

const PUBLISHED_HEAD = [
  'table', 'published engine, k/s', 'index / published', 'hand-written / published', 'aim', 'published, traced, k/s', 'explained as text / traced', 'joined / traced', 'aim',
]; // prettier-ignore

/** By number of rows: how many times the published engine's rate is the aim, plain and explained. */
const AIMS: Readonly<Record<number, readonly [number, number]>> = { 8: [100, 70], 1_000: [100, 50], 10_000: [40, 20] };

const besidePublished = (result: TableResult): readonly string[] => {
  const { published, index, handWritten, explainText, explainJoined, shape } = result;
  if (published === undefined) return [];
  const { plain, traced } = published;
  const [plainAim, explainedAim] = AIMS[shape.rows] ?? ['', ''];
  return [
    row([
      nameOf(result),
      rate(plain),
      ratio(plain.median, index.median, 0),
      ratio(plain.median, handWritten.median, 0),
      String(plainAim),
      rate(traced),
      ratio(traced.median, explainText.median, 0),
      ratio(traced.median, explainJoined.median, 0),
      String(explainedAim),
    ]),
  ];
};

const EXPLANATION_HEAD = ['table', 'evaluation, µs', 'explained, µs', 'in evaluations', 'joined', 'by JSON.stringify'];

/** Microseconds of an evaluation and of one with its explanation as text, the ratio of the two, and that of the least. */
const explanationOf = (result: TableResult): string => {
  const { index, explainText, explainJoined, explainStringify } = result;
  return row([
    nameOf(result),
    (index.median * 1_000).toFixed(2),
    (explainText.median * 1_000).toFixed(2),
    ratio(explainText.median, index.median, 1),
    ratio(explainJoined.median, index.median, 1),
    ratio(explainStringify.median, index.median, 0),
  ]);
};

const noiseOf = (results: readonly TableResult[]): string => {
  const spreads = results.flatMap(({ index, handWritten }) => [index.spread, handWritten.spread]).sort((a, b) => a - b);
  const at = (share: number): string =>
    `${((spreads[Math.floor((spreads.length - 1) * share)] ?? 0) * 100).toFixed(0)} %`;
  return `Distance of the quartiles over the rounds, of index and hand-written lookup: ${at(0.5)} of the median in the middle, ${at(1)} at worst.`;
};

const GROWN_FROM = 1_000;
const GROWN_TO = 100_000;

/** How much longer one evaluation takes in the large table than in the small table of the same kind. */
const growthOf = (results: readonly TableResult[]): readonly string[] => {
  const grown = results.flatMap((large) => {
    const small = results.find(
      ({ shape }) => shape.rows === GROWN_FROM && shape.led === large.shape.led && shape.blanks === large.shape.blanks,
    );
    if (large.shape.rows !== GROWN_TO || small === undefined) return [];
    const kind = `${large.shape.blanks * 100} % blank, ${large.shape.led ? 'equality' : 'mixed'}`;
    return [
      row([
        kind,
        ratio(large.index.median, small.index.median),
        ratio(large.handWritten.median, small.handWritten.median),
      ]),
    ];
  });
  const head = ['from 1,000 to 100,000 rows', 'time by index', 'hand-written'];
  return grown.length === 0 ? [] : [row(head), row(head.map(() => '---')), ...grown];
};
