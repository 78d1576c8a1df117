import { type AssetKind } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { among } from './instances';

/** An evaluation that waits for facts. */
export interface Registration {
  readonly instanceId: string;
  readonly type: AssetKind;
  readonly slug: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
}

const REGISTER = /* sql */ `
  insert into context_registrations (context_id, instance_id, type, slug) values (cast(:context as uuid), :id, :type, :slug)
  on conflict do nothing`;

/** Registers an evaluation of an existing instance. Idempotent. */
export const registerEvaluation = async (
  transaction: Transaction,
  contextId: string,
  { instanceId, type, slug }: Omit<Registration, 'createdAt'>,
): Promise<void> => {
  await query(transaction, REGISTER, { context: contextId, id: instanceId, type, slug });
};

const FIND = /* sql */ `
  select instance_id, type, slug, created_at from context_registrations
  where context_id = cast(:context as uuid) and instance_id = any (cast(:ids as text[]))
  order by instance_id, type, slug`;

interface RegistrationRow {
  readonly instance_id: string;
  readonly type: AssetKind;
  readonly slug: string;
  readonly created_at: Date;
}

/** Registered evaluations of instances, by instance, type and slug. */
export const findRegistrations = async (
  transaction: Transaction,
  contextId: string,
  instanceIds: readonly string[],
): Promise<readonly Registration[]> => {
  const rows = await query<RegistrationRow>(transaction, FIND, { context: contextId, ids: instanceIds });
  return rows.map(({ instance_id, type, slug, created_at }) => ({
    ...{ instanceId: instance_id, type, slug },
    createdAt: created_at.toISOString(),
  }));
};

const END = /* sql */ `
  delete from context_registrations r
  using unnest(cast(:ids as text[]), cast(:types as text[]), cast(:slugs as text[])) as e (instance_id, type, slug)
  where r.context_id = cast(:context as uuid) and ${among('r')} and r.instance_id = e.instance_id and r.type = e.type and r.slug = e.slug`;

/** Ends registered evaluations. */
export const endRegistrations = async (
  transaction: Transaction,
  contextId: string,
  ended: readonly Omit<Registration, 'createdAt'>[],
): Promise<void> => {
  if (ended.length === 0) return;
  await query(transaction, END, {
    context: contextId,
    ids: ended.map(({ instanceId }) => instanceId),
    types: ended.map(({ type }) => type),
    slugs: ended.map(({ slug }) => slug),
  });
};
