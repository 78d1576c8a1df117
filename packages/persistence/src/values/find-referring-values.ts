import { query, type Transaction } from '../connection/query';

/** A list that refers to a value. */
export interface ReferringValue {
  readonly id: string;
  readonly refersTo: readonly string[];
  /** Undefined where the access may not see it. */
  readonly visible: { readonly name: string; readonly content: unknown } | undefined;
}

interface ReferringRow {
  readonly id: string;
  readonly refers_to: string[];
  readonly name: string | null;
  readonly content: unknown;
}

const REFERRING = /* sql */ `
  select referring.id, referring.refers_to, workspace_values.name, workspace_values.content
  from find_referring_values(cast(:ids as uuid[])) as referring
    left join workspace_values on workspace_values.id = referring.id
  order by workspace_values.name nulls last, referring.id`;

/** Every list that refers to one of these values, archived ones too. */
export const findReferringValues = async (
  transaction: Transaction,
  ids: readonly string[],
): Promise<readonly ReferringValue[]> =>
  ids.length === 0
    ? []
    : (await query<ReferringRow>(transaction, REFERRING, { ids })).map(
        ({ id, refers_to: refersTo, name, content }) => ({
          id,
          refersTo,
          visible: name === null ? undefined : { name, content },
        }),
      );
