import { resolve } from 'node:path';
import { LaunchError } from '../launch-error';
import { localPaths, readConnection } from '../local-files';
import { importWorkspace } from '../workspace/import-workspace';
import { type WorkspaceAddress } from '../workspace/importers';

const USAGE = 'Usage: pnpm workspace:import <folder>, for instance examples/starter.';

/**
 * `pnpm workspace:import <folder>`: imports into the workspace of `DECISION_API_KEY` at `DECISION_URL`, else into the stack that runs in
 * this checkout. Throws {@link LaunchError} with the remedy.
 */
export const importFromCommandLine = async (
  root: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<void> => {
  const [folder, ...rest] = args;
  if (folder === undefined || rest.length > 0) throw new LaunchError(USAGE);
  const address = addressOf(root, environment);
  // Package managers run scripts in the root of the checkout and pass the caller's directory in a variable.
  const directory = resolve(environment['INIT_CWD'] ?? process.cwd(), folder);
  await importWorkspace({ ...address, directory, onWritten: (file, what) => say(`${file}: ${what}`) });
};

const addressOf = (root: string, environment: NodeJS.ProcessEnv): WorkspaceAddress => {
  const connection = readConnection(localPaths(root).connection);
  const baseUrl = environment['DECISION_URL'] ?? connection?.base_url;
  // The key of this checkout must not be sent to another service.
  const known = environment['DECISION_URL'] === undefined ? connection?.api_key : undefined;
  const apiKey = environment['DECISION_API_KEY'] ?? known;
  if (baseUrl === undefined) throw new LaunchError('Nothing runs here: type `npm start`, or set DECISION_URL.');
  if (!URL.canParse(baseUrl)) throw new LaunchError(`DECISION_URL is "${baseUrl}", which is no URL.`);
  if (apiKey === undefined) throw new LaunchError('Set DECISION_API_KEY to a key that may write the workspace.');
  return { baseUrl: baseUrl.replace(/\/+$/, ''), apiKey };
};

/** The program behind `pnpm workspace:import`. */
const main = async (): Promise<void> => {
  try {
    const root = resolve(__dirname, '../../../..');
    await importFromCommandLine(root, process.argv.slice(2), process.env, (line) => process.stdout.write(`${line}\n`));
  } catch (error) {
    const text = error instanceof LaunchError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${text}\n`);
    process.exitCode = 1;
  }
};

if (require.main === module) void main();
