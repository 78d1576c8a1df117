import { measureTable, type TableOptions } from './measure-table';
import { type WorkloadShape } from './workload';

/**
 * Runs in its own process, so that one table does not affect the times and the memory of the next: takes shape and options, prints a result, as
 * JSON.
 */
const main = async ([shape = '', options = '']: readonly string[]): Promise<void> => {
  // Both come from the parent process.
  const result = await measureTable(JSON.parse(shape) as WorkloadShape, JSON.parse(options) as TableOptions);
  process.stdout.write(JSON.stringify(result));
};

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
