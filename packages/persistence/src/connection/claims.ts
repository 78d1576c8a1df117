import { ServiceError } from '@decision/contracts';
import { escapeLiteral } from 'pg';
import { runtimeRole } from './runtime-role';
import { type WorkspaceAccess } from './workspace-access';

/**
 * Begins a transaction and claims what the policies compare rows with, for this transaction only; one message, and so one round trip. `*` stands for
 * an access without restriction; anything else is an array of group names, so no name can pass for it. The role is set as well: whatever happened
 * to the session before, this transaction is subject to row security. Throws `invalid_request` for text with U+0000.
 */
export const beginAs = ({ workspaceId, userGroups, actor, origin }: WorkspaceAccess): string => {
  const claims = {
    role: literal(runtimeRole),
    'app.workspace_id': literal(workspaceId),
    'app.user_groups': userGroups === undefined ? `'*'` : `cast(${arrayOf(userGroups)} as text)`,
    'app.actor': literal(actor ?? ''),
    'app.address': literal(origin?.address ?? ''),
    'app.request_id': literal(origin?.requestId ?? ''),
  };
  const settings = Object.entries(claims).map(([name, value]) => `set_config('${name}', ${value}, true)`);
  return `begin; select ${settings.join(', ')}`;
};

const arrayOf = (names: readonly string[]): string => `cast(array[${names.map(literal).join(', ')}] as text[])`;

/** The message ends at the first U+0000; what follows would be taken for another one. */
const literal = (text: string): string => {
  if (!text.includes('\0')) return escapeLiteral(text);
  throw new ServiceError('invalid_request', 'Text must not hold the character U+0000.');
};
