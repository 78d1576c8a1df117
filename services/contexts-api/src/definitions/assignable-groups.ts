import { ServiceError } from '@decision/contracts';

/** A restricted key hands on only groups of its own, and all of them where none are named. Throws `invalid_request`. */
export const assignableGroups = (
  own: readonly string[] | undefined,
  wanted: readonly string[] | undefined,
  kept: readonly string[] = [],
): readonly string[] => {
  if (own === undefined) return wanted ?? kept;
  if (wanted === undefined || wanted.length === 0) return kept.length > 0 && wanted === undefined ? kept : own;
  const foreign = wanted.filter((group) => !own.includes(group) && !kept.includes(group));
  if (foreign.length === 0 && wanted.some((group) => own.includes(group))) return wanted;
  const message = `must be among the groups of this key: ${own.join(', ')}`;
  throw new ServiceError('invalid_request', `The field "user_groups" ${message}.`, {
    problems: [{ path: '/user_groups', message }],
  });
};
