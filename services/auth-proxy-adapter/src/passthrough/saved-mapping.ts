import { applyMapping, readSsoRoleMapping } from '@decision/persistence';
import { type ApplySavedMapping } from './begin-session';

/** What a mapping says of somebody with some claims. */
interface Evaluation {
  readonly access: 'allowed' | 'denied';
  /** Why access is denied, as a sentence. */
  readonly reason?: string | undefined;
  readonly role?: string | undefined;
  readonly userGroups?: readonly string[] | undefined;
  readonly allGroups?: boolean | undefined;
  readonly profile?: Readonly<Record<string, unknown>> | undefined;
}

/** Applies the mapping that the admin saved, if any, to a person with these claims. Whoever it denies access keeps what it had. */
export const createApplySavedMapping =
  <Mapping extends object>(
    evaluate: (mapping: Mapping, claims: Readonly<Record<string, unknown>>) => Evaluation,
  ): ApplySavedMapping =>
  async (transaction, userId, claims) => {
    const mapping = await readSsoRoleMapping<Mapping>(transaction);
    if (mapping === undefined) return { selectors: [], changed: false };
    const { access, reason, ...rights } = evaluate(mapping, claims);
    if (access === 'denied')
      return {
        denied: reason ?? 'the claims of your token are not among those that are let in.',
        selectors: [],
        changed: false,
      };
    const { changed, selectors } = await applyMapping(transaction, userId, rights);
    return { changed, selectors };
  };
