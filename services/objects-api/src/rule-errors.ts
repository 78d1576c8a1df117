import { ServiceError } from '@decision/contracts';
import { type RuleRecord } from '@decision/persistence';

/** `name` is how the caller named the rule: by id or by slug. */
export const ruleNotFound = (name: { readonly id: string } | { readonly slug: string }): ServiceError =>
  new ServiceError(
    'rule_not_found',
    `No rule with the ${'id' in name ? `id ${name.id}` : `slug "${name.slug}"`} is visible to this key.`,
    { ...name },
  );

/** Somebody changed the rule since the caller saw it. */
export const ruleStale = ({ id, slug, updatedAt }: Pick<RuleRecord, 'id' | 'slug' | 'updatedAt'>): ServiceError =>
  new ServiceError(
    'rule_stale',
    `The rule "${slug}" was changed at ${updatedAt}, after the state that you have seen; export it again and repeat your change.`,
    { id, updated_at: updatedAt },
  );

export const ruleNotPublished = (slug: string): ServiceError =>
  new ServiceError('rule_not_published', `The rule "${slug}" has no published version; publish it first.`, { slug });

export const versionNotFound = (slug: string, version: string): ServiceError =>
  new ServiceError('version_not_found', `The rule "${slug}" has no version ${version}.`, { slug, version });

/** `context` is undefined where the caller does not see what the rule is bound to. */
export const ruleBound = (slug: string, context: string | undefined): ServiceError =>
  new ServiceError(
    'rule_bound',
    `The rule "${slug}" is published and bound to ${context === undefined ? 'a context that this key does not see' : `the context "${context}"`}; unpublish it, or import it with "context": null, first.`,
    context === undefined ? {} : { context },
  );
