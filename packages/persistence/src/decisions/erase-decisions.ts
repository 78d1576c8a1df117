import { asAdministrator } from '../connection/administrator';
import { timeOfDecisionId } from '@decision/decision-logs';

/**
 * Erases decisions of a workspace from the log table, with the rights of the URL's user, who must be the owner of the database. Answers how
 * many inputs were erased: 0 if the table no longer has them, or the user may not see them.
 */
export const eraseDecisions = (url: string, workspaceId: string, ids: readonly string[]): Promise<number> =>
  asAdministrator(url, async (client) => {
    const times = ids.flatMap((id) => timeOfDecisionId(id) ?? []).sort();
    if (times.length === 0) return 0;
    const { rowCount } = await client.query(
      `delete from decision_log
       where workspace_id = cast($1 as uuid) and id = any (cast($2 as uuid[]))
         and decided_at between cast($3 as timestamptz) and cast($4 as timestamptz)`,
      [workspaceId, ids, times[0], times.at(-1)],
    );
    return rowCount ?? 0;
  });
