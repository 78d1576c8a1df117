/** The kinds of things whose changes are recorded. Names are stored and filter the audit list: never rename one. */
type ChangeKind =
  | 'rule'
  | 'rule_test'
  | 'flow_test'
  | 'value'
  | 'object'
  | 'flow'
  | 'context'
  | 'folder'
  | 'environment'
  | 'release'
  | 'api_key'
  | 'role'
  | 'user'
  | 'user_group'
  | 'invitation'
  | 'session'
  | 'sso_mapping'
  | 'worker_floor'
  | 'decision';

/** One change, as its repository knows it. The actor, the time and the origin come from the transaction. */
export interface Change {
  readonly kind: ChangeKind;
  /** A verb in the present tense: `create`, `update`, `delete`, `publish`, `revoke`, `approve` ... */
  readonly action: string;
  /** Id of the changed thing. */
  readonly id: string;
  /** Its name for people: slug, name or address. */
  readonly name: string;
  /** Groups of the changed thing; default none, readable only by an unrestricted access. */
  readonly userGroups?: readonly string[];
  /** Groups of another thing that the change names, such as the related context: reading the change requires seeing both. Default: no other thing. */
  readonly otherGroups?: readonly string[];
  /** State before the change; absent if there was none. */
  readonly before?: object | null | undefined;
  /** State after the change; absent if there is none. If both are given, only fields that differ are stored. */
  readonly after?: object | null | undefined;
}
