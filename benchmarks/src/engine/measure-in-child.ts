import { measureTable, type TableOptions } from './measure-table';
import { type WorkloadShape } from './workload';

/** Run by itself, so that one table leaves no trace in the times and the memory of the next: shape and options in, a result out, as JSON. */
const main = async ([shape = '', options = '']: readonly string[]): Promise<void> => {
  // Both come from the process that started this one.
  const result = await measureTable(JSON.parse(shape) as WorkloadShape, JSON.parse(options) as TableOptions);
  process.stdout.write(JSON.stringify(result));
};

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
