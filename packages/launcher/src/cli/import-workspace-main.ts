import { resolve } from 'node:path';
import { LaunchError } from '../launch-error';
import { importFromCommandLine } from './import-workspace';

const root = resolve(__dirname, '../../../..');

importFromCommandLine(root, process.argv.slice(2), process.env, (line) => process.stdout.write(`${line}\n`)).catch(
  (error: unknown) => {
    const text = error instanceof LaunchError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${text}\n`);
    process.exitCode = 1;
  },
);
