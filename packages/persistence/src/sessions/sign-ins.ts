import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../paging/page';

/** The method of an attempt to sign in; `link`: a link that was sent or handed over. */
type SignInMethod = 'passthrough' | 'password' | 'oidc' | 'link';
type SignInOutcome = 'succeeded' | 'refused';

/** An attempt to sign in. Texts are cut to the lengths of the table: 254 characters of an e-mail address, 500 of a browser's name. */
export interface NewSignIn {
  /** Undefined if nobody has the address. */
  readonly userId?: string | undefined;
  readonly email: string;
  readonly method: SignInMethod;
  readonly outcome: SignInOutcome;
  /** The reason for a refusal: a word or two, never the input. */
  readonly reason?: string | undefined;
  readonly address: string | null;
  readonly userAgent: string | null;
}

const INSERT = /* sql */ `
  insert into sign_ins (user_id, email, method, outcome, reason, address, user_agent)
  values (cast(:user_id as uuid), :email, :method, :outcome, :reason, :address, :user_agent)`;

/** Records a sign-in or its refusal. Entries never change and are kept for 400 days. */
export const recordSignIn = async (transaction: Transaction, signIn: NewSignIn): Promise<void> => {
  const { userId, email, method, outcome, reason, address, userAgent } = signIn;
  await query(transaction, INSERT, {
    ...{ user_id: userId !== undefined && isUuid(userId) ? userId : null, method, outcome },
    ...{ email: cut(email, 254) ?? '', reason: cut(reason ?? null, 200) },
    ...{ address: cut(address, 100), user_agent: cut(userAgent, 500) },
  });
};

/** Text in the form of its column: of limited length, without U+0000 and halves of characters, which a stranger may have sent. */
export const cut = (text: string | null, length: number): string | null =>
  text === null ? null : Buffer.from(text.slice(0, length)).toString().replaceAll('\u0000', '\ufffd');

/** An entry in the log of sign-ins. The moment is ISO 8601 UTC. */
interface ListedSignIn {
  readonly id: string;
  readonly createdAt: string;
  readonly userId: string | null;
  readonly email: string;
  readonly method: SignInMethod;
  readonly outcome: SignInOutcome;
  readonly reason: string | null;
  readonly address: string | null;
  readonly userAgent: string | null;
}

interface SignInRow {
  readonly id: string;
  readonly created_at: Date;
  readonly user_id: string | null;
  readonly email: string;
  readonly method: SignInMethod;
  readonly outcome: SignInOutcome;
  readonly reason: string | null;
  readonly address: string | null;
  readonly user_agent: string | null;
}

interface SignInList {
  readonly signIns: readonly ListedSignIn[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * One page of the log of sign-ins, of one person or of all, newest first. A restricted access reads entries of the people that it sees, and
 * none about unknown addresses. Throws `invalid_request` for a foreign cursor.
 */
export const listSignIns = async (
  transaction: Transaction,
  page: PageRequest,
  { userId }: { readonly userId?: string | undefined } = {},
): Promise<SignInList> => {
  const { condition, bindings } = startOfPage(page.cursor, 'sign_ins');
  if (userId !== undefined && !isUuid(userId)) return { signIns: [], nextCursor: null };
  const ofUser = userId === undefined ? 'true' : 'user_id = cast(:user_id as uuid)';
  const rows = await query<SignInRow>(
    transaction,
    /* sql */ `
    select id, created_at, user_id, email, method, outcome, reason, address, user_agent
    from sign_ins
    where ${condition} and ${ofUser}
    order by created_at desc, id desc
    limit :limit`,
    { ...bindings, limit: entriesToRead(page), ...(userId === undefined ? {} : { user_id: userId }) },
  );
  const { entries, nextCursor } = takePage(rows.map(toEntry), page);
  return { signIns: entries, nextCursor };
};

const toEntry = (row: SignInRow): ListedSignIn => ({
  ...{ id: row.id, createdAt: row.created_at.toISOString(), userId: row.user_id, email: row.email },
  ...{ method: row.method, outcome: row.outcome, reason: row.reason },
  ...{ address: row.address, userAgent: row.user_agent },
});
