/** Meaning of a stable error code. */
interface ErrorCodeEntry {
  readonly status: number;
  /** Whether the same request can succeed when it is sent again unchanged. */
  readonly canRetry: boolean;
  readonly meaning: string;
}

const entry = (status: number, canRetry: boolean, meaning: string): ErrorCodeEntry => ({ status, canRetry, meaning });

/** Every error code that a service answers. Codes are stable: clients branch on them. */
export const errorCodes = {
  invalid_json: entry(
    400,
    false,
    'The body is not JSON; the position of the fault is in `position`, `line` and `column`.',
  ),
  invalid_request: entry(400, false, 'A parameter or the shape of the body is wrong; `problems` lists each fault.'),
  too_many_items: entry(400, false, 'A bulk request has more inputs than the operator allows, named in `limit_items`.'),
  flow_input_refused: entry(
    400,
    false,
    'The origin of the flow refused its input, and the flow says that failures are to fail the request; `path` names the node.',
  ),
  invalid_url: entry(400, false, 'The path of the request cannot be decoded.'),
  passthrough_incomplete: entry(
    500,
    false,
    'Token passthrough is enabled but variables that it needs are not set; `missing` names them.',
  ),
  missing_api_key: entry(401, false, 'The header x-api-key is absent.'),
  invalid_api_key: entry(401, false, 'The API key is unknown, malformed, expired or revoked.'),
  invalid_session: entry(
    401,
    false,
    'The session is unknown, malformed, expired or revoked, or its user may not sign in any more; sign in again.',
  ),
  forbidden: entry(
    403,
    false,
    'The key is known but may not do this; where its role lacks an entitlement, `entitlement` names it.',
  ),
  not_an_approver: entry(403, false, 'The release waits for others; `approvers` lists them.'),
  not_found: entry(404, false, 'Nothing is served at this path.'),
  rule_not_found: entry(404, false, 'No rule of this slug or id is visible to the key.'),
  flow_not_found: entry(404, false, 'No flow of this slug or id is visible to the key.'),
  rule_not_published: entry(404, false, 'The rule exists but has no published version.'),
  flow_not_published: entry(404, false, 'The flow exists but has no published version.'),
  version_not_found: entry(404, false, 'The rule or flow has no such published version.'),
  environment_not_found: entry(
    404,
    false,
    'No environment has this name, or nothing of the rule or flow is live in it.',
  ),
  release_not_found: entry(404, false, 'No release of this id is visible to the key.'),
  key_not_found: entry(404, false, 'No API key of this id exists in the workspace.'),
  test_not_found: entry(404, false, 'The rule or flow has no test of this id.'),
  folder_not_found: entry(404, false, 'No folder of this id is visible to the key.'),
  user_not_found: entry(404, false, 'No user of this id is visible to the key.'),
  role_not_found: entry(404, false, 'The workspace has no role of this name.'),
  invitation_not_found: entry(404, false, 'The invitation is unknown, used, withdrawn or expired.'),
  decision_not_found: entry(404, false, 'No decision of this id is kept and visible to the key.'),
  value_not_found: entry(404, false, 'No value of this id is visible to the key.'),
  object_not_found: entry(404, false, 'No object of this id or name is visible to the key.'),
  context_not_found: entry(404, false, 'No context of this slug or id is visible to the key.'),
  instance_not_found: entry(404, false, 'The context has no such instance, or it has expired.'),
  relationship_not_found: entry(404, false, 'The context has no relationship of this id that is visible to the key.'),
  method_not_allowed: entry(405, false, 'The path exists but not with this method; `Allow` lists those that do.'),
  slug_taken: entry(409, false, 'Another rule, or another flow, of the workspace already has this slug.'),
  rule_stale: entry(
    409,
    false,
    'The rule has changed since the caller saw it; `updated_at` says when. Read it again before changing it.',
  ),
  flow_stale: entry(
    409,
    false,
    'The flow has changed since the caller saw it; `updated_at` says when. Read it again before changing it.',
  ),
  rule_bound: entry(409, false, 'The rule is published and bound to a context; `context` names it.'),
  flow_bound: entry(409, false, 'The flow is published and bound to a context; `context` names it.'),
  rule_released: entry(409, false, 'Releases of the rule wait or are live; `releases` lists them.'),
  flow_released: entry(409, false, 'Releases of the flow wait or are live; `releases` lists them.'),
  tests_failed: entry(
    409,
    false,
    'The rule or flow is tested before it is published, and critical tests failed; `failed_tests` names them.',
  ),
  release_conflict: entry(409, false, 'The release is not in a state that allows this; `state` says in which.'),
  release_pending: entry(
    409,
    false,
    'Another version of the rule or flow waits for approval in the environment; `release_id` names the release.',
  ),
  release_not_direct: entry(
    409,
    false,
    'The environment takes only releases that are promoted from a lower level; `promote_from` lists it.',
  ),
  value_name_taken: entry(409, false, 'Another value of the workspace already has this name.'),
  value_in_use: entry(
    409,
    false,
    'Rules or flows use the value in a way that the change would break; `rules` and `flows` list them.',
  ),
  value_managed: entry(409, false, 'An object generates the value; `object` names it. Change the object instead.'),
  value_collision: entry(
    409,
    false,
    'Values that the object does not own have names that it would generate; `collisions` lists them.',
  ),
  value_sync_superseded: entry(
    409,
    false,
    'A later synchronisation of the collection has begun, or another key uses the id; begin again with a new `sync_id`.',
  ),
  object_name_taken: entry(409, false, 'Another object of the workspace already has this name.'),
  object_changed: entry(409, false, 'The object was changed since the caller has seen it; `updated_at` says when.'),
  key_not_rotatable: entry(409, false, 'The key is revoked, expired or has been rotated already; `state` says which.'),
  folder_name_taken: entry(409, false, 'Another folder of the same type already has this name.'),
  email_taken: entry(409, false, 'Another user of the workspace already has this address.'),
  group_name_taken: entry(409, false, 'Another user group of the workspace already has this name.'),
  role_in_use: entry(409, false, 'Keys, users or invitations have the role; `holders` counts them.'),
  role_built_in: entry(409, false, 'Built-in roles cannot be changed or deleted.'),
  context_in_use: entry(
    409,
    false,
    'Formulas or relationships of other contexts need the context; `contexts` names them.',
  ),
  context_change_refused: entry(
    409,
    false,
    'The change would make what instances hold wrong, or takes away what is in use; `refusals` lists why.',
  ),
  context_slug_taken: entry(409, false, 'Another context of the workspace has this slug; `slug` is the one asked for.'),
  context_changed: entry(
    409,
    true,
    'The definition of the context changed while the request was under way; the same request again is safe, and follows the new one.',
  ),
  relationship_name_taken: entry(409, false, 'The context has another relationship of this name.'),
  payload_too_large: entry(413, false, 'The body is larger than the limit, named in `limit_bytes`.'),
  result_too_large: entry(413, false, 'The result is larger than a broker message, or an answer, may be.'),
  unsupported_media_type: entry(415, false, 'The content type or encoding of the body is not accepted.'),
  headers_too_large: entry(431, false, 'The address and headers of the request are larger than 16 KiB together.'),
  input_not_object: entry(422, false, 'The input of a rule must be a JSON object.'),
  number_out_of_range: entry(422, false, 'A number cannot be held exactly in double precision.'),
  too_many_tests: entry(422, false, 'The rule or flow has as many tests as it may have, `limit`.'),
  rule_invalid: entry(
    422,
    false,
    'The rule document is well-formed but cannot be executed; `problems` lists each fault.',
  ),
  flow_invalid: entry(
    422,
    false,
    'The flow document is well-formed but cannot be executed; `problems` lists each fault, with the node and its field.',
  ),
  value_invalid: entry(422, false, 'A value cannot be stored as it is given; `problems` lists each fault.'),
  object_invalid: entry(422, false, 'The content cannot be an object; `problems` lists each fault.'),
  context_invalid: entry(422, false, 'The context cannot be saved as it is given; `problems` lists each fault.'),
  facts_invalid: entry(422, false, 'The facts do not fit the context; `facts` names each that does not, and why.'),
  evaluation_failed: entry(422, false, 'The rule could not be evaluated with this input.'),
  overloaded: entry(429, true, 'Too much work is in flight; try again after Retry-After seconds.'),
  too_many_refusals: entry(
    429,
    true,
    'Too many refused API keys are being answered; try again after Retry-After seconds.',
  ),
  flow_failed: entry(
    500,
    false,
    'The flow failed while it ran, and says that failures are to fail the request; the message and `path` name the node, `indexes` the items.',
  ),
  infrastructure_error: entry(
    500,
    true,
    'A node of a flow asks something outside of this service, which did not answer as it should; the message names the node.',
  ),
  internal_error: entry(500, true, 'A fault of the service; the request id leads to it in the logs.'),
  broker_unavailable: entry(503, true, 'The message broker cannot be reached or is disabled.'),
  database_unavailable: entry(503, true, 'The database cannot be reached.'),
  archive_unavailable: entry(503, true, 'The archive of decisions cannot be read.'),
  decision_not_recorded: entry(
    503,
    true,
    'The decision is answered only once it is on record, and could not be put there, for instance while the message broker is away; `reason` says why. It may be on record all the same.',
  ),
  operation_interrupted: entry(
    503,
    true,
    'The outcome of the operation is unknown; repeating the request is safe and answers what is known then.',
  ),
  not_ready: entry(503, true, 'The service has started but is not ready to take work.'),
  shutting_down: entry(503, true, 'The service is stopping; another replica will answer.'),
  too_few_reply_partitions: entry(
    504,
    true,
    'The topic of answers has fewer partitions than the service expects, so that no answer could come; the message names both numbers.',
  ),
  deadline_exceeded: entry(504, true, 'The work was not done before the deadline of the request.'),
} as const satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof errorCodes;
