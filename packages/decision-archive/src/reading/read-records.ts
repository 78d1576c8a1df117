import { type DecisionRecord } from '@decision/decision-logs';
import { type ArchiveReading } from './archive-answers';
import { recordsSql } from './archive-sql';
import { membersOf, type Row, textOrNull } from './decision-rows';
import { type DecisionObject, objectsOfDay } from './objects-of-day';

interface ReadRecordsOptions extends ArchiveReading {
  readonly workspaceId: string;
  /** YYYY-MM-DD, UTC. */
  readonly date: string;
  /** Hour of the day to start with. Default: 0. */
  readonly fromHour?: number;
}

/** Maximum number of records read at once. */
const MOST_RECORDS = 5_000;
/** Maximum characters of them; a larger record is read alone. */
const MOST_CHARACTERS = 16_777_216;

/** The records of a day as they came from the topic, in batches, hour by hour; no batch spans two hours, and no record appears twice. */
export async function* readRecords(
  options: ReadRecordsOptions,
): AsyncGenerator<readonly DecisionRecord[], void, undefined> {
  const objects = await objectsOfDay(options.store, options.workspaceId, options.date);
  for (const hour of new Set(objects.map((object) => object.hour).filter((of) => of >= (options.fromHour ?? 0))))
    yield* readHour(
      objects.filter((object) => object.hour === hour),
      options,
    );
}

async function* readHour(
  wanted: readonly DecisionObject[],
  { engine, objects, workspaceId }: ReadRecordsOptions,
): AsyncGenerator<readonly DecisionRecord[], void, undefined> {
  const opened = objects.open(wanted);
  try {
    await opened.fill(true);
    let after: { readonly id: string; readonly item: number; readonly messageId: string } | undefined;
    for (;;) {
      const source = { files: opened.paths, workspaceId, visibility: undefined };
      const rows = await engine.ask(recordsSql(source, after, { records: MOST_RECORDS, characters: MOST_CHARACTERS }));
      const last = rows.at(-1);
      if (last === undefined) return;
      yield rows.map(toRecord);
      after = { id: String(last['decision_id']), item: Number(last['item']), messageId: String(last['message_id']) };
    }
  } finally {
    opened.close();
  }
}

const toRecord = (row: Row): DecisionRecord => ({
  ...membersOf(row),
  workspaceId: String(row['workspace_id']),
  pathTrace: textOrNull(row['path_trace']),
  request: String(row['request']),
  response: String(row['response']),
  worker: String(row['worker']),
  isCut: row['cut'] === true,
  isAltered: row['altered'] === true,
});
