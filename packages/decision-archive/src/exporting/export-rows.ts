import { type DecisionItemRecord } from '@decision/decision-logs';
import { COLUMNS } from '../rows';

/** Columns of objects that clients are not shown: names of processes and messages. */
const UNTOLD: ReadonlySet<string> = new Set(['message_id', 'worker', 'sequence', 'cut']);

/** Columns of an exported file: those of the archive that clients may see, and whether the input itself passes the filters. */
export const EXPORT_COLUMNS: typeof COLUMNS = [...COLUMNS.filter(([name]) => !UNTOLD.has(name)), ['found', 'BOOLEAN']];

/** Contents of the rows of an export besides the items. */
export interface ExportRowOptions {
  readonly workspaceId: string;
  /** Hides which key asked. */
  readonly hidesKeys: boolean;
}

/** The items of one decision as JSON lines, one per row. */
export const exportRowsOf = (
  items: readonly DecisionItemRecord[],
  { workspaceId, hidesKeys }: ExportRowOptions,
): readonly string[] =>
  items.map((item) => {
    const [request, response] = [JSON.stringify(item.request), JSON.stringify(item.response)];
    const pathTrace = item.pathTrace === null ? null : JSON.stringify(item.pathTrace);
    return JSON.stringify({
      ...{ decision_id: item.id, item: item.item, of_list: item.isOfList, workspace_id: workspaceId },
      ...{ decided_at: item.decidedAt, type: item.kind, asset_id: item.assetId, name: textOf(item.slug) },
      ...{ selector: textOf(item.selector), version_id: textOf(item.versionId), context: textOf(item.contextSlug) },
      ...{
        instance: textOf(item.instance),
        flow: textOf(item.flowSlug),
        key_id: hidesKeys ? null : textOf(item.keyId),
      },
      ...{ request_id: textOf(item.requestId), trace_id: textOf(item.traceId), execution_id: textOf(item.executionId) },
      ...{ status: item.status, error: textOf(item.errorCode), duration_us: item.durationUs, matched: item.matched },
      ...{ stands_for: item.standsFor, altered: item.isAltered || items.length < item.shownItems, found: item.passes },
      characters: request.length + response.length + (pathTrace?.length ?? 0),
      ...{ request, response, path_trace: pathTrace },
    });
  });

/** JSON texts escape the characters that are replaced here. */
const textOf = (text: string | null): string | null => text?.replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd') ?? null;
