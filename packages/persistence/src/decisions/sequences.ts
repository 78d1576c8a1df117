import { type MissingMessages, type MissingOptions, type ProducerCount } from '@decision/decision-logs';
import { type Database } from '../connection/database';
import { query, type Transaction } from '../connection/query';

/** Messages of one producer in one minute. */
interface CountedMinute {
  readonly producer: string;
  readonly minute: string;
  readonly sequences: Set<number>;
  next: number;
  ended: boolean;
}

const NOTE = /* sql */ `
  insert into decision_sequences as known (producer, minute, seen, next, ended)
  select n.producer, n.minute, n.seen, n.next, n.ended
  from unnest(
    cast(:producers as text[]), cast(:minutes as timestamptz[]), cast(:seen as text[]), cast(:nexts as bigint[]), cast(:ended as boolean[])
  ) as given (producer, minute, seen, next, ended)
  cross join lateral (select given.producer, given.minute, cast(given.seen as int8multirange) as seen, given.next, given.ended) n
  order by n.producer, n.minute
  on conflict (workspace_id, producer, minute) do update set
    seen = known.seen + excluded.seen, next = greatest(known.next, excluded.next), ended = known.ended or excluded.ended`;

/** Records which messages of one workspace have arrived. Idempotent. */
export const noteSequences = async (transaction: Transaction, counts: readonly ProducerCount[]): Promise<void> => {
  const minutes = [...byMinute(counts).values()];
  if (minutes.length === 0) return;
  await query(transaction, NOTE, {
    producers: minutes.map(({ producer }) => producer),
    minutes: minutes.map(({ minute }) => minute),
    seen: minutes.map(({ sequences }) => multirangeOf(sequences)),
    nexts: minutes.map(({ next }) => String(next)),
    ended: minutes.map(({ ended }) => String(ended)),
  });
};

const byMinute = (counts: readonly ProducerCount[]): ReadonlyMap<string, CountedMinute> => {
  const minutes = new Map<string, CountedMinute>();
  for (const { producer, at, sequence, next, ended } of counts) {
    const minute = `${at.slice(0, 16)}:00Z`;
    const key = `${minute} ${producer}`;
    const known = minutes.get(key) ?? { producer, minute, sequences: new Set<number>(), next, ended };
    minutes.set(key, known);
    if (sequence !== undefined) known.sequences.add(sequence);
    known.next = Math.max(known.next, next);
    known.ended ||= ended;
  }
  return minutes;
};

/** Numbers in the database's notation for sets of ranges. */
const multirangeOf = (sequences: ReadonlySet<number>): string => {
  const ranges: [number, number][] = [];
  for (const sequence of [...sequences].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.[1] === sequence) last[1] = sequence + 1;
    else ranges.push([sequence, sequence + 1]);
  }
  return `{${ranges.map(([from, to]) => `[${from},${to})`).join(',')}}`;
};

/**
 * The gaps between two received messages of a producer, or between the last of them and the count that the producer reported. Decisions
 * made shortly before now may still be in transit. A producer that has been silent for long has ended.
 */
const MISSING = /* sql */ `
  with asked as (
    select distinct producer from decision_sequences
    where minute >= cast(:start as timestamptz) - interval '1 day' and minute < cast(:end as timestamptz)
  ), spans as materialized (
    -- What is older is not read, but for what a producer wrote last before it: numbers of requests that ran side by side are less than an hour apart.
    select a.producer,
      (select min(s.minute) from decision_sequences s where s.producer = a.producer) as began,
      coalesce(
        (select max(s.minute) - interval '1 hour' from decision_sequences s
          where s.producer = a.producer and s.minute < cast(:start as timestamptz) - interval '1 day'),
        cast(:start as timestamptz) - interval '1 day'
      ) as read_from
    from asked a
  ), rows as (
    select s.*, p.began, p.began >= p.read_from as is_whole
    from spans p cross join lateral (
      -- By the index, whatever is estimated: most rows are older.
      select * from decision_sequences d where d.producer = p.producer and d.minute >= p.read_from offset 0
    ) s
  ), pieces as (
    select s.producer, s.minute, lower(r) as first, upper(r) as past from rows s cross join lateral unnest(s.seen) as r
  ), producers as (
    select producer, began, is_whole, max(minute) as silent, max(next) as next, bool_or(ended) as ended
    from rows group by producer, began, is_whole
  ), ordered as (
    select p.producer, p.first, p.minute,
      max(p.past) over seen_before as reached, max(p.minute) over seen_before as after, q.began, q.is_whole
    from pieces p join producers q on q.producer = p.producer
    window seen_before as (partition by p.producer order by p.first, p.past rows between unbounded preceding and 1 preceding)
  ), reached as (
    select producer, max(past) as past, max(minute) as minute from pieces group by producer
  ), gaps as (
    -- What came before the first message that is known may have been forgotten with its day.
    select o.producer, coalesce(o.reached, 0) as first, o.first - coalesce(o.reached, 0) as missing,
      coalesce(o.after, o.began) as after, o.minute as before
    from ordered o
    where o.first > coalesce(o.reached, 0) and (o.reached is not null or (o.is_whole and o.began >= cast(:known_from as timestamptz)))
    union all
    select q.producer, coalesce(r.past, 0), q.next - coalesce(r.past, 0), coalesce(r.minute, q.began), q.silent
    from producers q left join reached r on r.producer = q.producer
    where q.next > coalesce(r.past, 0)
    union all
    select q.producer, q.next, null, q.silent, null
    from producers q
    where not q.ended and q.silent < cast(:silent_before as timestamptz)
  )
  select producer, first, missing, after, before from gaps
  where after < least(cast(:end as timestamptz), cast(:settled_before as timestamptz))
    and coalesce(before, after) >= date_trunc('minute', cast(:start as timestamptz))
    and coalesce(before, after) < cast(:settled_before as timestamptz)
  order by after desc, producer, first
  limit cast(:most as integer)`;

interface MissingRow {
  readonly producer: string;
  readonly first: string;
  readonly missing: string | null;
  readonly after: Date;
  readonly before: Date | null;
}

/** Messages of the workspace that have not arrived, the newest first. */
export const findMissingMessages = async (
  transaction: Transaction,
  { start, end, knownFrom, settledBefore, silentBefore, most }: MissingOptions,
): Promise<readonly MissingMessages[]> => {
  const rows = await query<MissingRow>(transaction, MISSING, {
    ...{ start, end, most },
    ...{ known_from: knownFrom, settled_before: settledBefore, silent_before: silentBefore },
  });
  return rows.map(({ producer, first, missing, after, before }) => ({
    ...{ producer, from: Number(first), count: missing === null ? null : Number(missing) },
    ...{ after: after.toISOString(), before: before?.toISOString() ?? null },
  }));
};

/** Deletes the records of messages that arrived before a moment, at most `most` rows; answers how many. */
export const forgetSequences = async (
  database: Pick<Database, 'lookUp'>,
  before: string,
  most: number,
): Promise<number> => {
  const sql = 'select forget_decision_sequences(cast(:before as timestamptz), cast(:most as integer)) as forgotten';
  const [row] = await database.lookUp<{ forgotten: string }>(sql, { before, most });
  return Number(row?.forgotten ?? 0);
};
