import { types } from 'node:util';
import { ServiceError } from '@decision/contracts';
import { checkDatabase, checkServer } from '../migrations/check-database';
import { migrate } from '../migrations/migrate';

/** Output for operators; each line ends with a line break. */
type Print = (line: string) => void;

/**
 * `DATABASE_URL=... node dist/cli/migrate.js`: checks the server, migrates the schema and reports what was done. Answers the exit code: 0
 * if the database is ready for the services.
 */
export const runMigrations = async (
  environment: Readonly<Record<string, string | undefined>>,
  print: Print,
): Promise<number> => {
  const url = environment['DATABASE_URL'];
  if (!url) return fail(print, ['DATABASE_URL is not set. Set it to postgresql://user:password@host:5432/name.']);
  try {
    const serverProblems = await checkServer(url);
    if (serverProblems.length > 0) return fail(print, serverProblems);
    const { applied } = await migrate({ url });
    applied.forEach((name) => print(`applied ${name}`));
    if (applied.length === 0) print('The schema is up to date.');
    return fail(print, await checkDatabase(url));
  } catch (error) {
    return fail(print, [describe(error)]);
  }
};

const fail = (print: Print, problems: readonly string[]): number => {
  problems.forEach(print);
  return problems.length === 0 ? 0 : 1;
};

/** The sentence for the operator, followed by the message of the database or the network. */
const describe = (error: unknown): string => {
  if (!(error instanceof ServiceError)) return String(error);
  return types.isNativeError(error.cause) ? `${error.message}\n  ${error.cause.message}` : error.message;
};

if (require.main === module) {
  void runMigrations(process.env, (line) => process.stdout.write(`${line}\n`)).then((code) => {
    process.exitCode = code;
  });
}
