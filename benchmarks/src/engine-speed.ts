import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { type TableOptions, type TableResult } from './engine/measure-table';
import { reportOf, rowOf } from './engine/report';
import { type WorkloadShape } from './engine/workload';

const run = promisify(execFile);
const CHILD = resolve(__dirname, '../dist/measure-in-child.js');
/** On an idle machine a table of 100,000 rows takes a tenth of it. */
const CHILD_DEADLINE_MS = 300_000;
const RESULT_BYTES = 1 << 20;

const BLANKS = [0, 0.3, 0.7];
const SIZES = [
  { rows: 8, columns: 4 },
  { rows: 1_000, columns: 6 },
  { rows: 10_000, columns: 8 },
  { rows: 100_000, columns: 8 },
];
/** How an argument names a size, such as `1,000 x 6`. */
const nameOf = ({ rows, columns }: (typeof SIZES)[number]): string => `${rows.toLocaleString('en')} x ${columns}`;

const THOROUGH: TableOptions = { rounds: 5, warmUps: 3, milliseconds: 40, compared: 200 };
const QUICK: TableOptions = { rounds: 3, warmUps: 3, milliseconds: 10, compared: 100 };
const QUICK_ROWS = 1_000;
const QUICK_BLANKS = [0.3];

/** Makes the child one file with the engine, as in services: calls between modules cost a tenth of an evaluation. */
const bundleChild = () =>
  build({
    entryPoints: [resolve(__dirname, 'engine/measure-in-child.ts')],
    outfile: CHILD,
    ...{ bundle: true, platform: 'node', format: 'cjs', target: 'node20', conditions: ['source'], logLevel: 'warning' },
    external: ['@gorules/zen-engine'], // native code
  });

const measure = async (shape: WorkloadShape, options: TableOptions): Promise<TableResult> => {
  const args = [...process.execArgv, '--expose-gc', CHILD, JSON.stringify(shape), JSON.stringify(options)];
  const { stdout } = await run(process.execPath, args, { timeout: CHILD_DEADLINE_MS, maxBuffer: RESULT_BYTES });
  return JSON.parse(stdout) as TableResult; // output of measure-in-child
};

const main = async (argv: readonly string[]): Promise<void> => {
  const isQuick = argv.includes('--quick');
  const options = isQuick ? QUICK : THOROUGH;
  const mostRows = isQuick ? QUICK_ROWS : Infinity;
  const named = argv.filter((argument) => !argument.startsWith('--'));
  const unknown = named.filter((name) => !SIZES.some((size) => nameOf(size) === name));
  if (unknown.length > 0)
    throw new RangeError(`There is no size ${unknown.join(', ')}; there are ${SIZES.map(nameOf).join(', ')}.`);
  const sizes = SIZES.filter((size) => size.rows <= mostRows && (named.length === 0 || named.includes(nameOf(size))));
  const blankShares = isQuick ? QUICK_BLANKS : BLANKS;
  const shapes = sizes.flatMap((size) =>
    [true, false].flatMap((led) => blankShares.map((blanks) => ({ ...size, blanks, led }))),
  );
  await bundleChild();
  const results: TableResult[] = [];
  for (const shape of shapes) {
    const result = await measure(shape, options);
    results.push(result);
    process.stderr.write(`${rowOf(result)} ${result.disagreements} of ${result.compared} answers differ\n`);
  }
  process.stdout.write(argv.includes('--json') ? `${JSON.stringify(results)}\n` : `${reportOf(results)}\n`);
  if (results.some(({ disagreements }) => disagreements > 0)) process.exitCode = 1;
};

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
