import { query, type Transaction } from '../connection/query';
import { together } from '../connection/together';
import { alive, type StoredFacts } from './instances';

/** The instance that a foreign key names; null: none. */
export interface LinkWrite {
  readonly instanceId: string;
  readonly fact: string;
  readonly targetId: string | null;
}

/*
 * Links are looked up for one instance, or one target, after the other, as a lateral join says. A condition on all of them at once is planned as a
 * scan of all links of the context while the database has no statistics (docs/adr/0082-links-are-looked-up-one-by-one.md).
 */

/** The few links of one instance. Conditions on more than the beginning of the key would let the planner take the other index. */
export const linksOf = (instanceId: string): string => /* sql */ `
  select ctid, instance_id, fact, target_id, former from context_links
  where context_id = cast(:context as uuid) and instance_id = ${instanceId}
  offset 0`;

/** Writers of an instance hold its row, so that the links found are those that are changed. */
const LEAVE = /* sql */ `
  update context_links l set former = true
  where not l.former and l.ctid = any (array(
    select k.ctid
    from unnest(cast(:ids as text[]), cast(:facts as text[]), cast(:targets as text[])) as w (instance_id, fact, target_id)
    cross join lateral (${linksOf('w.instance_id')}) k
    where k.fact = w.fact and k.target_id is distinct from nullif(w.target_id, '') and not k.former
  ))`;

const JOIN = /* sql */ `
  insert into context_links (context_id, instance_id, fact, target_id)
  select cast(:context as uuid), w.instance_id, w.fact, w.target_id
  from unnest(cast(:ids as text[]), cast(:facts as text[]), cast(:targets as text[])) as w (instance_id, fact, target_id)
  where w.target_id <> ''
  on conflict (context_id, instance_id, fact, target_id) do update set former = false where context_links.former`;

/**
 * Records the instances that foreign keys name now, replacing earlier ones. Those that they named before stay as former links, until {@link
 * forgetFormerLinks} (C116).
 */
export const writeLinks = async (
  transaction: Transaction,
  contextId: string,
  links: readonly LinkWrite[],
): Promise<void> => {
  if (links.length === 0) return;
  const bindings = {
    context: contextId,
    ids: links.map(({ instanceId }) => instanceId),
    facts: links.map(({ fact }) => fact),
    targets: links.map(({ targetId }) => targetId ?? ''),
  };
  await together(query(transaction, LEAVE, bindings), query(transaction, JOIN, bindings));
};

const TARGETS = /* sql */ `
  select l.instance_id, l.target_id
  from unnest(cast(:ids as text[])) as holder (id) cross join lateral (${linksOf('holder.id')}) l
  where l.fact = :fact
    and (l.instance_id, l.target_id) > (cast(:after_instance as text) collate "C", cast(:after_target as text) collate "C")
  order by l.instance_id, l.target_id limit :limit`;

/** An instance, and one that its foreign key names. */
export interface LinkEnds {
  readonly instanceId: string;
  readonly targetId: string;
}

/** Links of some instances. */
interface LinkQuery {
  /** The context whose instances hold the foreign key. */
  readonly contextId: string;
  readonly fact: string;
  readonly instanceIds: readonly string[];
  readonly limit: number;
}

/** Ids that foreign keys of these instances name or named before, by instance, in order; `after` is the last pair of the previous page. */
export const findLinkTargets = async (
  transaction: Transaction,
  { contextId, fact, instanceIds, after, limit }: LinkQuery & { readonly after: LinkEnds | undefined },
): Promise<readonly LinkEnds[]> => {
  const rows = await query<{ instance_id: string; target_id: string }>(transaction, TARGETS, {
    ...{ context: contextId, fact, ids: instanceIds, limit },
    ...{ after_instance: after?.instanceId ?? '', after_target: after?.targetId ?? '' },
  });
  return rows.map(({ instance_id, target_id }) => ({ instanceId: instance_id, targetId: target_id }));
};

/** The links of each target that follow an instance, at most `limit` of each. */
const linksOfEach = (fact: string, limit: string): string => /* sql */ `
  from unnest(cast(:ids as text[])) as target (id) cross join lateral (
    select l.instance_id from context_links l
    where l.context_id = cast(:context as uuid) and l.fact = ${fact} and l.target_id = target.id and not l.former
      and l.instance_id > cast(:after as text) collate "C"
    order by l.instance_id limit ${limit}
  ) l`;

const HOLDERS = /* sql */ `
  select distinct l.instance_id ${linksOfEach(':fact', ':limit')}
  order by l.instance_id limit :limit`;

/** Instances whose foreign key names one of these ids, in order; `after` is the last one of the previous page, empty for the first. */
export const findLinkHolders = async (
  transaction: Transaction,
  { contextId, fact, instanceIds, after, limit }: LinkQuery & { readonly after: string },
): Promise<readonly string[]> => {
  const bindings = { context: contextId, fact, ids: instanceIds, after, limit };
  const rows = await query<{ instance_id: string }>(transaction, HOLDERS, bindings);
  return rows.map(({ instance_id }) => instance_id);
};

const FORGET = /* sql */ `
  delete from context_links l
  where l.former and l.ctid = any (array(
    select k.ctid from unnest(cast(:ids as text[]), cast(:versions as bigint[])) as done (instance_id, version)
    cross join lateral (${linksOf('done.instance_id')}) k
    where k.former and done.version = coalesce((
      select i.version from context_instances i
      where i.context_id = cast(:context as uuid) and i.instance_id = done.instance_id
    ), 0)
  ))`;

/** Deletes the former links of instances; an instance that was written since this version keeps all of them. A deleted instance has the version 0. */
export const forgetFormerLinks = async (
  transaction: Transaction,
  contextId: string,
  versions: ReadonlyMap<string, number>,
): Promise<void> => {
  const bindings = { ids: [...versions.keys()], versions: [...versions.values()].map(String) };
  await query(transaction, FORGET, { context: contextId, ...bindings });
};

/** The requested facts of an instance, including derived ones. */
interface NamedRecord {
  readonly instanceId: string;
  readonly facts: StoredFacts;
}

const FACTS = /* sql */ `
  case
    when cast(:whole as boolean) then i.facts || i.derived
    else coalesce((
      select jsonb_object_agg(wanted.fact, (i.facts || i.derived) -> wanted.fact)
      from unnest(cast(:facts as text[])) as wanted (fact) where (i.facts || i.derived) -> wanted.fact is not null
    ), '{}')
  end as facts`;

const NAMED = /* sql */ `
  select i.instance_id, ${FACTS}
  from context_instances i
  where i.context_id = cast(:context as uuid) and i.instance_id = any (cast(:ids as text[])) and i.version > 0 and ${alive}`;

/** Selects instances and their facts. */
interface NamedQuery {
  readonly contextId: string;
  readonly ids: readonly string[];
  /** Requested facts; undefined: all. */
  readonly facts: readonly string[] | undefined;
}

/** The existing ones among the instances. */
export const findNamed = async (
  transaction: Transaction,
  { contextId, ids, facts }: NamedQuery,
): Promise<readonly NamedRecord[]> => {
  const bindings = { context: contextId, ids, whole: facts === undefined, facts: facts ?? [] };
  const rows = await query<{ instance_id: string; facts: StoredFacts }>(transaction, NAMED, bindings);
  return rows.map(({ instance_id, facts: found }) => ({ instanceId: instance_id, facts: found }));
};

/** A requested fact with its default if it was never given; null: no default. */
export interface WantedFact {
  readonly key: string;
  readonly defaultValue: unknown;
}

/** Selection of instances, and of the related data to read. */
export interface RelatedPiecesQuery {
  /** The context of the related instances, which hold the foreign key. */
  readonly contextId: string;
  readonly foreignKeyFact: string;
  /** Ids that foreign keys name. Distinct. */
  readonly ids: readonly string[];
  /** Undefined: all stored facts, without defaults. */
  readonly facts: readonly WantedFact[] | undefined;
  /** Largest number of links that one statement follows. */
  readonly most: number;
  /** Largest size of one instance's related data, bytes; the rest may be left out. Default: no bound. */
  readonly mostBytesOfEach?: number | undefined;
}

/** Some of the related instances of one instance, in the order of their ids. */
export interface RelatedPiece {
  readonly ofId: string;
  /** Facts of each, including derived ones: all facts, or the requested ones with null for missing ones. */
  readonly related: readonly StoredFacts[];
  /** Size of the selected data as JSON, bytes. */
  readonly bytes: number;
}

/** In the order of the ids: the list is gone through once, and links are read of as many as it takes. A sort would read those of all first. */
const LINKS = /* sql */ `
  select target.id as target_id, l.instance_id ${linksOfEach(':key', ':most')}
  limit :most`;

/**
 * A row for each target, with the requested data of its instances as one JSON text, which costs far less to read than a row per instance.
 * Each instance is looked up by its key: without this, a database without statistics reads the whole context for every page.
 */
const piecesOf = (wanted: string): string => /* sql */ `
  with page as materialized (${LINKS})
  select page.target_id, max(page.instance_id) as last, cast(count(*) as integer) as links,
    cast(coalesce(sum(octet_length(cast(i.wanted as text))), 0) as double precision) as bytes,
    json_agg(i.wanted order by page.instance_id) filter (where i.wanted is not null) as found
  from page left join lateral (
    select ${wanted} as wanted from context_instances i
    where i.context_id = cast(:context as uuid) and i.instance_id = page.instance_id and i.version > 0 and ${alive}
    limit 1
  ) i on true
  group by page.target_id
  order by page.target_id`;

const WHOLE = piecesOf('cast(i.facts || i.derived as json)');

const valueOfFact = (index: number): string =>
  `coalesce(i.derived -> :fact${index}, i.facts -> :fact${index}, cast(:default${index} as jsonb))`;

interface PieceRow {
  readonly target_id: string;
  readonly last: string;
  readonly links: number;
  readonly bytes: number;
  /** Facts, or the values of the requested ones. */
  readonly found: readonly (StoredFacts | readonly unknown[])[] | null;
}

/**
 * Existing related instances, by the instance that they are related to. Memory is bounded by the links of one statement, and time is linear
 * in the number of links. Each statement sees the data committed when it starts.
 */
export async function* findRelatedPieces(
  transaction: Transaction,
  { contextId, foreignKeyFact, ids, facts, most, mostBytesOfEach = Infinity }: RelatedPiecesQuery,
): AsyncGenerator<RelatedPiece> {
  const sql = facts === undefined ? WHOLE : piecesOf(`json_build_array(${facts.map((_, index) => valueOfFact(index)).join(', ')})`); // prettier-ignore
  const fixed = { context: contextId, key: foreignKeyFact, most, ...bindingsOf(facts ?? []) };
  const toFacts = factsReader(facts);
  let open = [...ids].sort(byBytes);
  let after = '';
  let ofFirst = 0;
  while (open.length > 0) {
    const [first = ''] = open;
    // A page within a target contains only its own links, so that the index scan starts at the end of the previous page.
    const rows = await query<PieceRow>(transaction, sql, { ...fixed, ids: after === '' ? open : [first], after });
    for (const { target_id: ofId, found, bytes } of rows) yield { ofId, related: (found ?? []).map(toFacts), bytes };
    const last = rows.at(-1);
    const isFull = rows.reduce((sum, { links }) => sum + links, 0) >= most;
    if (last === undefined || !isFull) {
      open = after === '' ? [] : open.slice(1);
      [after, ofFirst] = ['', 0];
      continue;
    }
    ofFirst = (last.target_id === first ? ofFirst : 0) + last.bytes;
    open = open.slice(open.indexOf(last.target_id));
    after = last.last;
    if (ofFirst <= mostBytesOfEach) continue;
    open = open.slice(1);
    [after, ofFirst] = ['', 0];
  }
}

const bindingsOf = (facts: readonly WantedFact[]): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    facts.flatMap(({ key, defaultValue }, index) => [
      [`fact${index}`, key],
      [`default${index}`, defaultValue === null ? null : JSON.stringify(defaultValue)],
    ]),
  );

const factsReader =
  (facts: readonly WantedFact[] | undefined) =>
  (found: StoredFacts | readonly unknown[]): StoredFacts =>
    facts === undefined || !Array.isArray(found)
      ? (found as StoredFacts) // without requested facts, all are returned
      : Object.fromEntries(facts.map(({ key }, index): [string, unknown] => [key, found[index]]));

/** The order of ids in the database: byte order. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
