import { randomBytes } from 'node:crypto';
import {
  clearTotp,
  createUserLink,
  ensureAdmin,
  findAdmin,
  findSignInWorkspace,
  openDatabase,
} from '@decision/persistence';
import { createLinkToken, readConfig, StartRefusal } from '@decision/service-kit';
import { isPassthrough, settings } from '../config';

/** Output for operators; each line ends with a line break. */
type Print = (line: string) => void;

/** How long the link works, ms. */
const LIFE_MS = 3_600_000;
const FLAG = '--without-second-factor';
const USAGE = `Usage: admin-link.js [${FLAG}], with the environment of the service.`;

/**
 * `node dist/cli/admin-link.js [--without-second-factor]`, with the environment of the service: prints a link with which the administrator
 * of the instance can choose a password once, within an hour. It needs neither mail nor a directory; if there is no administrator yet,
 * ADMIN_EMAIL makes one. Answers the exit code.
 */
export const makeAdminLink = async (
  environment: Readonly<Record<string, string | undefined>>,
  args: readonly string[],
  print: Print,
): Promise<number> => {
  const fail = (line: string): number => {
    print(line);
    return 1;
  };
  if (args.some((arg) => arg !== FLAG)) return fail(USAGE);
  try {
    const config = readConfig(settings, environment);
    if (isPassthrough(config))
      return fail('Token passthrough is on: the proxy in front says who a person is, and no password counts.');
    const database = openDatabase({ url: config.databaseUrl.reveal(), applicationName: 'admin-link' });
    try {
      const workspace = await findSignInWorkspace(database, config.signInWorkspace);
      if (workspace === undefined)
        return fail(
          'There is no workspace, or more than one: SIGN_IN_WORKSPACE must name the one of the administrator.',
        );
      const { token, selector, tokenHash } = createLinkToken(randomBytes);
      const expiresAt = new Date(Date.now() + LIFE_MS).toISOString();
      const access = { workspaceId: workspace.id, userGroups: undefined, actor: 'admin-link' };
      const email = await database.inWorkspace(access, async (transaction) => {
        const admin =
          (await findAdmin(transaction)) ?? (await ensureAdmin(transaction, requireAddress(config.adminEmail)));
        await createUserLink(transaction, { userId: admin.id, purpose: 'reset', selector, tokenHash, expiresAt });
        if (args.includes(FLAG)) await clearTotp(transaction, admin.id);
        return admin.email;
      });
      print(`${email} chooses a password here, once, until ${expiresAt}:`);
      print(`${config.publicUrl}/auth/reset/${token}`);
      return 0;
    } finally {
      await database.close();
    }
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
};

const requireAddress = (email: string | undefined): string => {
  if (email !== undefined) return email;
  throw new StartRefusal('There is no administrator yet: set ADMIN_EMAIL to the address of the one to be.');
};

if (require.main === module) {
  void makeAdminLink(process.env, process.argv.slice(2), (line) => process.stdout.write(`${line}\n`)).then((code) => {
    process.exitCode = code;
  });
}
