import { query, type Transaction } from '../connection/query';
import { type PageRequest } from '../paging/page';
import { entriesToRead, startOfPage, takePage } from '../paging/take-page';
import { type ReleaseRecord, type ReleaseState } from './release-record';
import { type ReleaseRow, selectReleases, toReleaseRecord } from './release-row';

/** Which releases are wanted; all given filters must hold. */
interface ReleaseFilters {
  /** Id or slug of the rule. */
  readonly rule?: string | undefined;
  /** Slug of the environment. */
  readonly environment?: string | undefined;
  readonly state?: ReleaseState | undefined;
}

interface ReleaseList {
  readonly releases: readonly ReleaseRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** One page of the releases of rules that are visible, newest first. Throws `invalid_request` for a foreign cursor. */
export const listReleases = async (
  transaction: Transaction,
  { rule, environment, state }: ReleaseFilters,
  page: PageRequest,
): Promise<ReleaseList> => {
  const { condition, bindings } = startOfPage(page.cursor, 'releases');
  const rows = await query<ReleaseRow>(
    transaction,
    /* sql */ `
    ${selectReleases}
    where ${condition}
      and (cast(:rule as text) is null or rules.slug = :rule or cast(rules.id as text) = lower(:rule))
      and (cast(:environment as text) is null or environments.slug = :environment)
      and (cast(:state as text) is null or releases.state = :state)
    order by releases.created_at desc, releases.id desc
    limit :limit`,
    {
      ...bindings,
      rule: rule ?? null,
      environment: environment ?? null,
      state: state ?? null,
      limit: entriesToRead(page),
    },
  );
  const { entries, nextCursor } = takePage(rows.map(toReleaseRecord), page);
  return { releases: entries, nextCursor };
};
