import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { type TableResult } from '../src/engine/measure-table';
import { reportOf } from '../src/engine/report';

const HOME = resolve(__dirname, '..');
const DEADLINE_MS = 120_000;

const runQuickly = async (): Promise<readonly TableResult[]> => {
  const args = ['--import', 'tsx', '--conditions=source', 'src/engine-speed.ts', '--quick', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: HOME, timeout: DEADLINE_MS });
  return JSON.parse(stdout) as TableResult[]; // output of the benchmark
};

it(
  'compares answers, times and memory of every kind of table, and finds no answer that differs',
  async () => {
    const results = await runQuickly();
    expect(results.map(({ shape }) => [shape.rows, shape.led])).toEqual([
      [8, true],
      [8, false],
      [1_000, true],
      [1_000, false],
    ]);
    for (const { compared, disagreements, documentBytes, compiledBytes, ...times } of results) {
      expect({ compared, disagreements }).toEqual({ compared: 100, disagreements: 0 });
      expect(Math.min(documentBytes, compiledBytes)).toBeGreaterThan(0);
      const { index, scan, handWritten, explain, explainRead, explainText, many, published } = times;
      for (const rounds of [index, scan, handWritten, explain, explainRead, explainText, many])
        expect(rounds.median).toBeGreaterThan(0);
      expect(published?.plain.median).toBeGreaterThan(index.median);
      expect(published?.traced.median).toBeGreaterThan(explainText.median);
    }
    expect(reportOf(results)).toContain('| 1,000 x 6, 30 % blank, equality |');
  },
  DEADLINE_MS,
);
