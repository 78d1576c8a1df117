import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { findOpenReleases, type ReleaseRecord } from '../releases/releases';
import { lockRule } from './rules';

interface NewVersion {
  /** The UUID of the version to make. Publishing again under the same id answers what the first time made. */
  readonly versionId: string;
}

interface PublishedVersion {
  readonly versionId: string;
  /** From 1, one more with each version of the rule. */
  readonly version: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly publishedAt: string;
}

export type PublishRuleOutcome =
  | { readonly status: 'published'; readonly version: PublishedVersion; readonly slug: string }
  | { readonly status: 'not_found' };

interface VersionRow {
  readonly number: number;
  readonly published_at: Date;
}

/** Whoever publishes, changes or deletes a rule takes its row first, so that they form a line and never a deadlock. */
const LOCK = /* sql */ `select slug, user_groups from rules where id = cast(:id as uuid) for update`;

const FIND_VERSION = /* sql */ `
  select number, published_at from rule_versions where id = cast(:version_id as uuid) and rule_id = cast(:id as uuid)`;

/** The draft is copied inside the database: a large table does not travel. */
const PUBLISH = /* sql */ `
  with numbered as (
    update rule_ids set last_number = last_number + 1 where id = cast(:id as uuid) returning id, last_number
  ), pointed as (
    update rules set published_version_id = cast(:version_id as uuid) from numbered where rules.id = numbered.id
    returning rules.*, numbered.last_number
  )
  insert into rule_versions (id, rule_id, number, value_ids, definition, details)
  select cast(:version_id as uuid), id, last_number, value_ids,
    json_build_object(
      'requestSchema', request_schema, 'responseSchema', response_schema, 'conditions', conditions,
      'groups', groups, 'settings', settings
    ),
    json_build_object(
      'slug', slug, 'name', name, 'description', description, 'labels', labels, 'folder', folder, 'testSuite', test_suite,
      'sampleRequest', sample_request, 'sampleResponse', sample_response, 'testRequest', test_request,
      'metadata', metadata, 'context', context
    )
  from pointed
  returning number, published_at`;

/**
 * Freezes the draft as the next version of the rule and puts that version in service, in the caller's transaction. Publishing at
 * once from several places gives different numbers.
 */
export const publishRule = async (
  transaction: Transaction,
  id: string,
  { versionId }: NewVersion,
): Promise<PublishRuleOutcome> => {
  if (!isUuid(id)) return { status: 'not_found' };
  const [locked] = await query<{ slug: string; user_groups: string[] }>(transaction, LOCK, { id });
  if (locked === undefined) return { status: 'not_found' };
  const bindings = { id, version_id: versionId };
  const known = await query<VersionRow>(transaction, FIND_VERSION, bindings);
  const [row] = known.length > 0 ? known : await query<VersionRow>(transaction, PUBLISH, bindings);
  if (row === undefined) return { status: 'not_found' };
  const version = { versionId, version: row.number, publishedAt: row.published_at.toISOString() };
  const { slug: name, user_groups: userGroups } = locked;
  if (known.length === 0) {
    await recordChange(transaction, { kind: 'rule', action: 'publish', id, name, userGroups, after: version });
  }
  return { status: 'published', version, slug: name };
};

type UnpublishRuleOutcome =
  | { readonly status: 'unpublished'; readonly slug: string }
  /** These releases of the rule wait or are live. */
  | { readonly status: 'released'; readonly slug: string; readonly releases: readonly ReleaseRecord[] }
  | { readonly status: 'not_found' };

const UNPUBLISH = /* sql */ `
  update rules set published_version_id = null where id = cast(:id as uuid) returning user_groups`;

/**
 * Takes a rule of which no release waits or is live out of service: no selector solves it until it is published again. Its versions are
 * kept. Idempotent.
 */
export const unpublishRule = async (transaction: Transaction, id: string): Promise<UnpublishRuleOutcome> => {
  const rule = await lockRule(transaction, { id });
  if (rule === undefined) return { status: 'not_found' };
  const { slug } = rule;
  const releases = await findOpenReleases(transaction, id);
  if (releases.length > 0) return { status: 'released', slug, releases };
  const [row] = await query<{ user_groups: string[] }>(transaction, UNPUBLISH, { id });
  const userGroups = row?.user_groups ?? [];
  await recordChange(transaction, { kind: 'rule', action: 'unpublish', id, name: slug, userGroups });
  return { status: 'unpublished', slug };
};
