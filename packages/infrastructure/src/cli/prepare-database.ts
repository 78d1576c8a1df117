import { randomBytes } from 'node:crypto';
import {
  checkDatabase,
  checkServer,
  ensureAdmin,
  ensureServiceLogin,
  ensureWorkspace,
  findSignIn,
  migrate,
  openDatabase,
  setPassword,
} from '@decision/persistence';
import { hashPassword, StartRefusal } from '@decision/service-kit';
import { type Environment, type Print, requireVariable, runCli } from './run-cli';

const EXAMPLE = 'postgresql://owner:password@host:5432/name';

/**
 * `DATABASE_URL=... node dist/cli/prepare-database.js`, with the login that owns the schema: checks the server, migrates the schema, and
 * creates whatever else a deployment lacks:
 *
 * - `SERVICE_LOGIN_URL`: the login of the services, by user name and password of this URL.
 * - `WORKSPACE_SLUG`, `WORKSPACE_NAME`: a workspace with the built-in roles of this release.
 * - `ADMIN_EMAIL`, `ADMIN_PASSWORD`: its admin, with that password if it has none yet.
 *
 * Safe to run twice and concurrently. Answers the exit code.
 */
export const prepareDatabase = async (environment: Environment, print: Print): Promise<number> => {
  const url = requireVariable(environment, 'DATABASE_URL', EXAMPLE);
  const serverProblems = await checkServer(url);
  if (serverProblems.length > 0) return fail(print, serverProblems);
  const { applied } = await migrate({ url });
  applied.forEach((name) => print(`applied ${name}`));
  if (applied.length === 0) print('The schema is up to date.');
  await makeServiceLogin(url, environment['SERVICE_LOGIN_URL'], print);
  await makeWorkspace(url, environment, print);
  return fail(print, await checkDatabase(url));
};

const fail = (print: Print, problems: readonly string[]): number => {
  problems.forEach(print);
  return problems.length === 0 ? 0 : 1;
};

const makeServiceLogin = async (url: string, login: string | undefined, print: Print): Promise<void> => {
  if (!login) return;
  if (!URL.canParse(login)) throw new StartRefusal(`SERVICE_LOGIN_URL must look like ${EXAMPLE}.`);
  const { username, password } = new URL(login);
  if (username === '' || password === '')
    throw new StartRefusal('SERVICE_LOGIN_URL must have a user name and a password.');
  const name = decodeURIComponent(username);
  if (name === decodeURIComponent(new URL(url).username))
    throw new StartRefusal('SERVICE_LOGIN_URL names the user of DATABASE_URL: services must not own the schema.');
  await ensureServiceLogin(url, name, decodeURIComponent(password));
  print(`The login "${name}" may act for the services.`);
};

const makeWorkspace = async (url: string, environment: Environment, print: Print): Promise<void> => {
  const slug = environment['WORKSPACE_SLUG'];
  if (!slug) return;
  const { id, created } = await ensureWorkspace(url, { slug, name: environment['WORKSPACE_NAME'] || slug });
  print(`The workspace "${slug}" ${created ? 'was made' : 'is there'}.`);
  const password = environment['ADMIN_PASSWORD'];
  if (!password) return;
  const email = requireVariable(environment, 'ADMIN_EMAIL', 'the address of the admin, since there is ADMIN_PASSWORD');
  print(await giveFirstPassword({ url, workspaceId: id, email, password }));
};

interface FirstPassword {
  readonly url: string;
  readonly workspaceId: string;
  readonly email: string;
  readonly password: string;
}

/** Creates the admin of the workspace if there is none, and sets the password of the admin of this address if it has none. Answers what was done. */
const giveFirstPassword = async ({ url, workspaceId, email, password }: FirstPassword): Promise<string> => {
  const database = openDatabase({ url, applicationName: 'decision-administration', poolMax: 1 });
  try {
    const known = await findSignIn(database, workspaceId, email);
    if ((known?.passwordHash ?? null) !== null) return 'The admin has a password already; it stays.';
    const passwordHash = await hashPassword(password, randomBytes);
    const access = { workspaceId, userGroups: undefined, actor: 'operator' };
    return await database.inWorkspace(access, async (transaction) => {
      const admin = await ensureAdmin(transaction, email);
      if (admin.email.toLowerCase() !== email.toLowerCase())
        return 'The workspace has another admin; nothing was changed.';
      await setPassword(transaction, admin.id, passwordHash);
      return 'The admin has the first password.';
    });
  } finally {
    await database.close();
  }
};

if (require.main === module) runCli(prepareDatabase);
