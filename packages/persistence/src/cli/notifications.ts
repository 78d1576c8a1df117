import { asAdministrator } from '../connection/administrator';

/** Output for operators; each line ends with a line break. */
type Print = (line: string) => void;

const USAGE = 'Say what to do: list, or retry; behind it the id of a workspace, or nothing for all of them.';
const WORKSPACE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MOST_LISTED = 100;

interface FailedRow {
  readonly workspace_id: string;
  readonly id: string;
  readonly channel: string;
  readonly attempts: number;
  readonly ended_at: Date;
  readonly error: string | null;
}

/**
 * `DATABASE_URL=... node dist/cli/notifications.js list|retry [workspace]`, as the owner of the database: lists the notifications that were
 * given up, the newest first, without their content, or has them sent again. Answers the exit code.
 */
export const lookAfterNotifications = async (
  environment: Readonly<Record<string, string | undefined>>,
  [action = '', workspace]: readonly string[],
  print: Print,
): Promise<number> => {
  const fail = (line: string): number => {
    print(line);
    return 1;
  };
  const url = environment['DATABASE_URL'];
  if (!url) return fail('DATABASE_URL is not set. Set it to postgresql://user:password@host:5432/name.');
  if (action !== 'list' && action !== 'retry') return fail(USAGE);
  if (workspace !== undefined && !WORKSPACE.test(workspace)) return fail(`${workspace} is no id of a workspace.`);
  try {
    const lines = await (action === 'list' ? list : retry)(url, workspace ?? null);
    lines.forEach(print);
    return 0;
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
};

const list = (url: string, workspace: string | null): Promise<readonly string[]> =>
  asAdministrator(url, async (client) => {
    const { rows } = await client.query<FailedRow>(
      `select workspace_id, id, channel, attempts, ended_at, error from notifications
       where state = 'failed' and ($1::uuid is null or workspace_id = $1) order by ended_at desc limit ${MOST_LISTED}`,
      [workspace],
    );
    if (rows.length === 0) return ['No notification is given up.'];
    return rows.map(
      ({ workspace_id, id, channel, attempts, ended_at, error }) =>
        `${ended_at.toISOString()} workspace ${workspace_id} ${channel} ${id}: attempt ${attempts}: ${error ?? 'no reason'}`,
    );
  });

const retry = (url: string, workspace: string | null): Promise<readonly string[]> =>
  asAdministrator(url, async (client) => {
    const { rows } = await client.query<{ count: number }>('select retry_notifications($1) as count', [workspace]);
    return [`${rows[0]?.count ?? 0} notifications are sent anew.`];
  });

if (require.main === module) {
  void lookAfterNotifications(process.env, process.argv.slice(2), (line) => process.stdout.write(`${line}\n`)).then(
    (code) => {
      process.exitCode = code;
    },
  );
}
