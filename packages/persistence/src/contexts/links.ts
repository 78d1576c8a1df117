import { query, type Transaction } from '../connection/query';
import { among } from './among';
import { alive, type StoredFacts } from './instance-record';

/** Which instance a foreign key names; null: none. */
export interface LinkWrite {
  readonly instanceId: string;
  readonly fact: string;
  readonly targetId: string | null;
}

const LEAVE = /* sql */ `
  update context_links l set former = true
  from unnest(cast(:ids as text[]), cast(:facts as text[]), cast(:targets as text[])) as w (instance_id, fact, target_id)
  where l.context_id = cast(:context as uuid) and ${among('l')} and l.instance_id = w.instance_id and l.fact = w.fact
    and l.target_id is distinct from nullif(w.target_id, '') and not l.former`;

const JOIN = /* sql */ `
  insert into context_links (context_id, instance_id, fact, target_id)
  select cast(:context as uuid), w.instance_id, w.fact, w.target_id
  from unnest(cast(:ids as text[]), cast(:facts as text[]), cast(:targets as text[])) as w (instance_id, fact, target_id)
  where w.target_id <> ''
  on conflict (context_id, instance_id, fact, target_id) do update set former = false where context_links.former`;

/** Notes which instances foreign keys name now. What they named before stays as former, until {@link forgetFormerLinks} (C116). */
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
  await query(transaction, LEAVE, bindings);
  await query(transaction, JOIN, bindings);
};

const BACKFILL = /* sql */ `
  insert into context_links (context_id, instance_id, fact, target_id)
  select i.context_id, i.instance_id, :fact, i.facts ->> :fact
  from context_instances i
  where i.context_id = cast(:context as uuid) and jsonb_typeof(i.facts -> :fact) in ('string', 'number')
    and length(i.facts ->> :fact) between 1 and 512
  on conflict do nothing`;

/** Links every instance that there already is, for a fact that has become a foreign key. */
export const linkExistingInstances = async (
  transaction: Transaction,
  contextId: string,
  fact: string,
): Promise<void> => {
  await query(transaction, BACKFILL, { context: contextId, fact });
};

const TARGETS = /* sql */ `
  select distinct target_id from context_links
  where context_id = cast(:context as uuid) and fact = :fact and instance_id = any (cast(:ids as text[]))
    and target_id > cast(:after as text) collate "C"
  order by target_id limit :limit`;

const HOLDERS = /* sql */ `
  select distinct instance_id as target_id from context_links
  where context_id = cast(:context as uuid) and fact = :fact and target_id = any (cast(:ids as text[])) and not former
    and instance_id > cast(:after as text) collate "C"
  order by target_id limit :limit`;

/** A page of one side of links. */
export interface LinkPage {
  /** The context whose instances hold the foreign key. */
  readonly contextId: string;
  readonly fact: string;
  readonly instanceIds: readonly string[];
  /** The last id of the page before; empty for the first. */
  readonly after: string;
  readonly limit: number;
}

const findEnds = async (transaction: Transaction, sql: string, page: LinkPage): Promise<readonly string[]> => {
  const { contextId, fact, instanceIds, after, limit } = page;
  const bindings = { context: contextId, fact, ids: instanceIds, after, limit };
  const rows = await query<{ target_id: string }>(transaction, sql, bindings);
  return rows.map(({ target_id }) => target_id);
};

/** Ids that the foreign keys of these instances name or named before, in order. */
export const findLinkTargets = (transaction: Transaction, page: LinkPage): Promise<readonly string[]> =>
  findEnds(transaction, TARGETS, page);

/** Instances whose foreign key names one of these ids, in order. */
export const findLinkHolders = (transaction: Transaction, page: LinkPage): Promise<readonly string[]> =>
  findEnds(transaction, HOLDERS, page);

const FORGET = /* sql */ `
  delete from context_links l
  using unnest(cast(:ids as text[]), cast(:versions as bigint[])) as told (instance_id, version),
    context_instances i
  where l.context_id = cast(:context as uuid) and ${among('l')} and l.instance_id = told.instance_id and l.former
    and i.context_id = l.context_id and i.instance_id = l.instance_id and i.version = told.version`;

/** Forgets what foreign keys of instances named before; an instance that was written since this version keeps all of it. */
export const forgetFormerLinks = async (
  transaction: Transaction,
  contextId: string,
  versions: ReadonlyMap<string, number>,
): Promise<void> => {
  const bindings = { ids: [...versions.keys()], versions: [...versions.values()].map(String) };
  await query(transaction, FORGET, { context: contextId, ...bindings });
};

/** Facts of an instance, derived ones among them, as far as they were asked for. */
export interface NamedRecord {
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

/** Which instances are wanted, and what of them. */
export interface NamedQuery {
  readonly contextId: string;
  readonly ids: readonly string[];
  /** Facts that are wanted; undefined: all. */
  readonly facts: readonly string[] | undefined;
}

/** Those of the instances that exist. */
export const findNamed = async (
  transaction: Transaction,
  { contextId, ids, facts }: NamedQuery,
): Promise<readonly NamedRecord[]> => {
  const bindings = { context: contextId, ids, whole: facts === undefined, facts: facts ?? [] };
  const rows = await query<{ instance_id: string; facts: StoredFacts }>(transaction, NAMED, bindings);
  return rows.map(({ instance_id, facts: found }) => ({ instanceId: instance_id, facts: found }));
};
