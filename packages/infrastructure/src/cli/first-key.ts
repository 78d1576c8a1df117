import { randomBytes } from 'node:crypto';
import { createApiKey, findSignInWorkspace, openDatabase } from '@decision/persistence';
import { generateApiKey, StartRefusal } from '@decision/service-kit';
import { type Environment, type Print, requireVariable, runCli } from './run-cli';

const NAME = 'First key';

/**
 * `DATABASE_URL=... node dist/cli/first-key.js [workspace]`, with the login of the services: creates a key with the role "admin" in the
 * workspace of this slug, or in the only workspace, and prints it once. Answers the exit code.
 */
export const makeFirstKey = async (
  environment: Environment,
  print: Print,
  [slug]: readonly string[] = [],
): Promise<number> => {
  const url = requireVariable(environment, 'DATABASE_URL', 'postgresql://user:password@host:5432/name');
  const database = openDatabase({ url, applicationName: 'decision-administration', poolMax: 1 });
  try {
    const workspace = await findSignInWorkspace(database, slug);
    if (workspace === undefined)
      throw new StartRefusal(
        slug === undefined
          ? 'There is no workspace, or more than one: name one by its slug.'
          : `There is no workspace "${slug}".`,
      );
    const { apiKey, selector, secretHash } = generateApiKey(randomBytes);
    const access = { workspaceId: workspace.id, userGroups: undefined, actor: 'operator' };
    const outcome = await database.inWorkspace(access, (transaction) =>
      createApiKey(transaction, {
        ...{ selector, secretHash, name: NAME, role: 'admin', userGroups: [], expiresAt: null },
      }),
    );
    if (outcome.status !== 'created') throw new StartRefusal(`The workspace "${workspace.slug}" has no role "admin".`);
    print(apiKey);
    return 0;
  } finally {
    await database.close();
  }
};

if (require.main === module) runCli((environment, print) => makeFirstKey(environment, print, process.argv.slice(2)));
