import { type Change } from '../audit/change';
import { recordChange } from '../audit/record-change';
import { type Database } from '../connection/database';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { invitationFields, type InvitationRecord } from '@decision/contracts';
import { type DescribedRow, describeTable } from '../resources/described-table';

const { columns, toRecord } = describeTable('invitations', invitationFields);

export interface NewInvitation extends Pick<InvitationRecord, 'email' | 'role' | 'userGroups' | 'expiresAt'> {
  /** Default false. */
  readonly allGroups?: boolean | undefined;
  /** Public part of the link. */
  readonly selector: string;
  /** SHA-256 of its secret part, 64 hex digits. */
  readonly tokenHash: string;
}

/** An invitation found by its link, before anything about the bearer is known. */
export interface FoundInvitation {
  readonly id: string;
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly email: string;
  readonly role: string;
  readonly tokenHash: string;
  readonly expiresAt: string;
}

/** Largest number of listed invitations. */
const MAX_INVITATIONS = 10_000;

const EMAIL_HAS_USER = /* sql */ `select from users where lower(email) = lower(:email)`;
const WITHDRAW_EARLIER = /* sql */ `delete from invitations where lower(email) = lower(:email)`;
const INSERT = /* sql */ `
  insert into invitations (email, role, user_groups, all_groups, selector, token_hash, expires_at)
  values (:email, :role, cast(:user_groups as text[]), :all_groups, :selector, decode(:token_hash, 'hex'), cast(:expires_at as timestamptz))
  on conflict do nothing
  returning ${columns}`;
const LIST = /* sql */ `
  select ${columns} from invitations where expires_at > clock_timestamp()
  order by created_at desc, id desc limit ${MAX_INVITATIONS}`;
const DELETE = /* sql */ `delete from invitations where id = cast(:id as uuid) returning ${columns}`;
const FIND = /* sql */ `
  select id, workspace_id, workspace_name, email, role, encode(token_hash, 'hex') as token_hash, expires_at
  from find_invitation(:selector)`;

type CreateInvitationOutcome =
  | { readonly status: 'created'; readonly invitation: InvitationRecord }
  /** A user, or an invitation that is not visible, has the address. */
  | { readonly status: 'email_taken' };

/** Stores an invitation in place of an earlier one for the address. Throws `forbidden` as {@link createUser} does. */
export const createInvitation = async (
  transaction: Transaction,
  { email, role, userGroups, allGroups = false, selector, tokenHash, expiresAt }: NewInvitation,
): Promise<CreateInvitationOutcome> => {
  if ((await query(transaction, EMAIL_HAS_USER, { email })).length > 0) return { status: 'email_taken' };
  await query(transaction, WITHDRAW_EARLIER, { email });
  const bindings = {
    ...{ email, role, user_groups: userGroups, all_groups: allGroups },
    ...{ selector, token_hash: tokenHash, expires_at: expiresAt },
  };
  const [row] = await query<DescribedRow>(transaction, INSERT, bindings);
  if (row === undefined) return { status: 'email_taken' };
  const invitation = toRecord(row);
  await recordChange(transaction, changeOf('create', invitation));
  return { status: 'created', invitation };
};

/** The pending, visible invitations, newest first; 10,000 at most. */
export const listInvitations = async (transaction: Transaction): Promise<readonly InvitationRecord[]> =>
  (await query<DescribedRow>(transaction, LIST)).map(toRecord);

/** Removes an invitation, because it is withdrawn or used: of several concurrent calls, one gets it. Undefined if none is visible. */
export const takeInvitation = async (
  transaction: Transaction,
  id: string,
  action: 'withdraw' | 'accept',
): Promise<InvitationRecord | undefined> => {
  const [row] = isUuid(id) ? await query<DescribedRow>(transaction, DELETE, { id }) : [];
  if (row === undefined) return undefined;
  const invitation = toRecord(row);
  await recordChange(transaction, changeOf(action, invitation));
  return invitation;
};

/** Finds an invitation by the public part of its link. The caller must still compare the hash and the expiry. */
export const findInvitation = async (
  database: Pick<Database, 'lookUp'>,
  selector: string,
): Promise<FoundInvitation | undefined> => {
  const [row] = await database.lookUp<{
    id: string;
    workspace_id: string;
    workspace_name: string;
    email: string;
    role: string;
    token_hash: string;
    expires_at: Date;
  }>(FIND, { selector });
  if (row === undefined) return undefined;
  const { id, email, role } = row;
  return {
    ...{ id, email, role, workspaceId: row.workspace_id, workspaceName: row.workspace_name },
    tokenHash: row.token_hash,
    expiresAt: row.expires_at.toISOString(),
  };
};

const changeOf = (action: string, invitation: InvitationRecord): Change => {
  const { id, email: name, userGroups } = invitation;
  const document = action === 'create' ? { after: invitation } : { before: invitation };
  return { kind: 'invitation', action, id, name, userGroups, ...document };
};
