import { randomUUID } from 'node:crypto';
import { openDatabase } from '@decision/persistence';
import { changeAndAnnounce } from '../src/announcements';
import { importRule } from '../src/rules/import-rule';

/**
 * A process that the test kills in the middle of a change. Arguments: database, workspace, slug of the rule to publish, and where it stops
 * forever: `before` its commit, or `between` the commit and the announcement. It prints `there` when it reaches that point.
 */
const main = async ([url = '', workspaceId = '', slug = '', where = '']: readonly string[]): Promise<void> => {
  const database = openDatabase({ url, applicationName: 'mortal-writer' });
  const access = { workspaceId, userGroups: undefined };
  const stay = (): Promise<never> => {
    process.stdout.write('there\n');
    return new Promise(() => setInterval(() => undefined, 1_000));
  };
  const context = { database, announce: stay, newId: randomUUID, now: Date.now };
  if (where === 'between') await importRule(context, access, { slug, name: slug, _publish: true });
  await changeAndAnnounce(context, access, (_transaction, announceLater) => {
    announceLater({ kind: 'rule', keys: [`rule:${workspaceId}:${slug}`] });
    return stay();
  });
};

void main(process.argv.slice(2));
