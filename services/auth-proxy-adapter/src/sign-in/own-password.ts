import { admitSignIn, findSignIn, noteSignIn } from '@decision/persistence';
import { verifyPassword } from '@decision/service-kit';
import { type DoorRequest } from '../door/route';
import { type Visitor } from '../people/visitors';
import { MAX_PASSWORD } from './choose-password';
import { createRunner, guarded, LOCK, type SignInContext } from './sign-in-context';

export const WRONG_PASSWORD = 'Your password is wrong, or cannot be checked at this moment.';

/**
 * Whether this is the password of the signed-in person: a session alone must not be enough to take over an account. Guesses count as at a
 * sign-in.
 */
export const provePassword = async (
  context: SignInContext,
  request: DoorRequest,
  { session: { workspaceId, userId, email } }: Visitor,
  password: string,
): Promise<boolean> => {
  const run = createRunner(context.database, request, workspaceId, `user:${userId}`);
  const proven = await guarded(context, request, async () => {
    const stored = await findSignIn(context.database, workspaceId, email);
    if (stored?.userId !== userId) return undefined;
    const { admitted } = await run((transaction) => admitSignIn(transaction, userId, LOCK));
    return ((await verifyPassword(password.slice(0, MAX_PASSWORD), stored.passwordHash)) && admitted) || undefined;
  });
  if (proven === undefined) return false;
  await run((transaction) => noteSignIn(transaction, userId));
  return true;
};
