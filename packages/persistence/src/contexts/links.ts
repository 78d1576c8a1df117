import { query, type Transaction } from '../connection/query';
import { alive, among, type StoredFacts } from './instance-record';

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

/** Notes which instances foreign keys name now, whatever was noted before. What they named before stays as former, until {@link forgetFormerLinks} (C116). */
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

const TARGETS = /* sql */ `
  select instance_id, target_id from context_links
  where context_id = cast(:context as uuid) and fact = :fact and instance_id = any (cast(:ids as text[]))
    and (instance_id, target_id) > (cast(:after_instance as text) collate "C", cast(:after_target as text) collate "C")
  order by instance_id, target_id limit :limit`;

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

/** Ids that foreign keys of these instances name or named before, by instance, in order; `after` is the last one of the page before. */
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

const HOLDERS = /* sql */ `
  select distinct instance_id from context_links
  where context_id = cast(:context as uuid) and fact = :fact and target_id = any (cast(:ids as text[])) and not former
    and instance_id > cast(:after as text) collate "C"
  order by instance_id limit :limit`;

/** Instances whose foreign key names one of these ids, in order; `after` is the last one of the page before, empty for the first. */
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
  using unnest(cast(:ids as text[]), cast(:versions as bigint[])) as told (instance_id, version)
  where l.context_id = cast(:context as uuid) and ${among('l')} and l.instance_id = told.instance_id and l.former
    and told.version = coalesce((
      select i.version from context_instances i where i.context_id = l.context_id and i.instance_id = l.instance_id
    ), 0)`;

/**
 * Forgets what foreign keys of instances named before; an instance that was written since this version keeps all of it. An instance that is gone has
 * the version 0.
 */
export const forgetFormerLinks = async (
  transaction: Transaction,
  contextId: string,
  versions: ReadonlyMap<string, number>,
): Promise<void> => {
  const bindings = { ids: [...versions.keys()], versions: [...versions.values()].map(String) };
  await query(transaction, FORGET, { context: contextId, ...bindings });
};

/** Facts of an instance, derived ones among them, as far as they were asked for. */
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

/** Which instances are wanted, and what of them. */
interface NamedQuery {
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
