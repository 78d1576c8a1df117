import { ServiceError } from '@decision/contracts';
import { type ReleaseRecord } from '@decision/persistence';

export const releaseNotFound = (id: string): ServiceError =>
  new ServiceError('release_not_found', `No release with the id ${id} is visible to this key.`, { id });

export const environmentNotFound = (slug: string, known: readonly string[]): ServiceError =>
  new ServiceError(
    'environment_not_found',
    `No environment has the slug "${slug}"; ${known.length === 0 ? 'there are none yet' : `there are ${known.join(', ')}`}.`,
    { environment: slug, environments: known },
  );

/** The environment may exist; the rule has nothing in it. */
export const nothingLive = (slug: string, selector: string): ServiceError =>
  new ServiceError(
    'environment_not_found',
    `Nothing of the rule "${slug}" is live in an environment "${selector}"; a version is "latest", a number or an environment's slug.`,
    { slug, environment: selector },
  );

/** `sentence` says what cannot be done and what can. */
export const releaseConflict = ({ id, state }: Pick<ReleaseRecord, 'id' | 'state'>, sentence: string): ServiceError =>
  new ServiceError('release_conflict', sentence, { release_id: id, state });

/** A rule that releases need stays: it is neither deleted nor taken out of service. */
export const ruleReleased = (slug: string, releases: readonly ReleaseRecord[]): ServiceError => {
  const places = releases.map(({ environment, state }) => `${state} in "${environment.slug}"`).join(', ');
  return new ServiceError(
    'rule_released',
    `The rule "${slug}" is ${places}; cancel what is pending and withdraw what is live first.`,
    {
      releases: releases.map(({ id, environment, state, version }) => ({
        id,
        environment: environment.slug,
        state,
        version,
      })),
    },
  );
};
