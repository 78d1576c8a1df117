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

/** One change, as its repository knows it. Who made it, when and from where comes from the transaction. */
export interface Change {
  readonly kind: ChangeKind;
  /** A verb in the present tense: `create`, `update`, `delete`, `publish`, `revoke`, `approve` ... */
  readonly action: string;
  /** Id of what changed. */
  readonly id: string;
  /** Its name for people: slug, name or address. */
  readonly name: string;
  /** Groups of what changed; default none, which only an access without restriction reads. */
  readonly userGroups?: readonly string[];
  /** Groups of another thing that the change names, such as the context that one is related to: only who sees both reads of it. Default: no other thing. */
  readonly otherGroups?: readonly string[];
  /** State before the change; absent if there was none. */
  readonly before?: object | null | undefined;
  /** State after the change; absent if there is none. With both given only fields that differ are stored. */
  readonly after?: object | null | undefined;
}
