import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DecisionFilters } from '@decision/decision-logs';
import { ArchiveError } from '../archive-error';
import { holdersSql, idsSql, type Source } from '../reading/archive-sql';
import { type DecisionObject, objectsOfDay } from '../reading/objects-of-day';
import { type ArchiveQuestion } from '../reading/statement';
import { removeReplaced, replaceObjects, type ReplacedObject, type UpkeepTools } from './compact-day';
import { holdOf, listHolds } from './holds';

interface EraseOptions extends UpkeepTools {
  readonly workspaceId: string;
  /** Selects decisions; each is erased whole. `start` and `end` are within `date`. */
  readonly filters: DecisionFilters;
  /** YYYY-MM-DD, UTC. */
  readonly date: string;
  /** Names the erasure in its proof: letters, digits and hyphens. */
  readonly id: string;
  readonly reason: string;
  /** The search as it was written; the proof contains its digest. */
  readonly search: string;
  /** Whether it only reports what would be erased. */
  readonly isDryRun: boolean;
}

/** What was erased from a day, or would be. */
interface ErasedDay {
  /** Of the decisions. */
  readonly ids: readonly string[];
  readonly objects: number;
}

/** Maximum number of decisions that one erasure takes from a day. */
const MOST_DECISIONS = 100_000;
/** Passes over a day: decisions that arrived meanwhile are erased too. */
const MOST_LOOKS = 10;
/** Pause before the next pass, ms: a compaction that had begun earlier may have restored them. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Erases decisions of a day: objects that hold them are rewritten without them, and removed. A proof without the erased data stays below
 * `erasures/`. Throws `misused` if a hold keeps the day, or if there are more decisions than one erasure takes.
 */
export const eraseDay = async (options: EraseOptions): Promise<ErasedDay> => {
  const { store, date } = options;
  const ids = new Set<string>();
  let objects = 0;
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const found = await findOnDay(options);
    if (found.ids.length === 0 && (look > 1 || ids.size === 0)) return { ids: [...ids], objects };
    if (found.ids.length > 0) {
      const hold = holdOf(await listHolds(store), date);
      if (hold !== undefined)
        throw new ArchiveError(
          'misused',
          `The hold "${hold.name}" keeps ${date}, on which ${found.ids.length} decisions were found. Lift it first.`,
        );
      if (options.isDryRun) return { ids: found.ids, objects: found.holders.length };
      await rewrite(found, options);
      for (const id of found.ids) ids.add(id);
      objects += found.holders.length;
    }
    await sleep(LOOK_AGAIN_MS);
  }
  throw new ArchiveError('store_failed', `Decisions of ${date} reappeared ${MOST_LOOKS} times. Erase them again.`);
};

interface FoundOnDay {
  readonly ids: readonly string[];
  /** Objects that hold them. */
  readonly holders: readonly DecisionObject[];
}

const findOnDay = async ({ filters, date, ...tools }: EraseOptions): Promise<FoundOnDay> => {
  const objects = await objectsOfDay(tools.store, tools.workspaceId, date);
  if (objects.length === 0) return { ids: [], holders: [] };
  const rows = await ask(tools, objects, (source) => idsSql(source, filters, MOST_DECISIONS + 1));
  const ids = rows.map(({ id }) => String(id));
  if (ids.length > MOST_DECISIONS)
    throw new ArchiveError(
      'misused',
      `More than ${MOST_DECISIONS} decisions of ${date} were found. Erase them in parts: give a narrower search.`,
    );
  const holders: DecisionObject[] = [];
  for (const object of ids.length === 0 ? [] : objects) {
    const [row] = await ask(tools, [object], (source) => holdersSql(source, ids));
    if (Number(row?.['rows'] ?? 0) > 0) holders.push(object);
  }
  return { ids, holders };
};

const ask = async (
  { engine, objects, workspaceId }: Pick<EraseOptions, 'engine' | 'objects' | 'workspaceId'>,
  wanted: readonly DecisionObject[],
  questionOf: (source: Source) => ArchiveQuestion,
) => {
  const opened = objects.open(wanted);
  try {
    const question = questionOf({ files: opened.paths, workspaceId, visibility: undefined });
    await opened.fill(question.readsDocuments);
    return await engine.ask(question);
  } finally {
    opened.close();
  }
};

const rewrite = async ({ ids, holders }: FoundOnDay, options: EraseOptions): Promise<void> => {
  const { store, workspaceId, date, id, reason, search, now } = options;
  const rewritten: { readonly before: string; readonly after: ReplacedObject | null }[] = [];
  for (const holder of holders) {
    const after = await replaceObjects([holder], options, { without: ids, purpose: `erase ${id}` });
    if (after !== undefined) rewritten.push({ before: holder.key, after: after.records > 0 ? after : null });
  }
  if (rewritten.length === 0) return;
  const proof = {
    ...{ v: 1, id, at: new Date(now()).toISOString(), workspace_id: workspaceId, date, reason },
    search_sha256: createHash('sha256').update(search).digest('hex'),
    ...{ decisions: ids.length, objects: rewritten },
  };
  const of = createHash('sha256').update(holders.map(({ key }) => key).join('\n')).digest('hex').slice(0, 12); // prettier-ignore
  await store.create(`erasures/${id}/workspace=${workspaceId}/${date}-${of}.json`, JSON.stringify(proof));
  // At once, including those that compactions left for running questions.
  await removeReplaced(options, 0);
};
