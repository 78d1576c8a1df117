import { randomBytes } from 'node:crypto';
import { type Branding, page } from '@decision/contracts';
import { findShownInvitation } from '@decision/infrastructure';
import { createUser, type FoundInvitation, setPassword, takeInvitation } from '@decision/persistence';
import { hashPassword } from '@decision/service-kit';
import { requireSameSite } from '@decision/sessions';
import { type DoorAnswer, type DoorRequest, type DoorRoute } from '../door/route';
import { html, pageAnswer, problemOf, redirectTo } from '../pages/html';
import { newPasswordFields, problemWithPassword } from './choose-password';
import { linkToken, noLink } from './password-pages';
import { beginSession, createRunner, guarded, type SignInContext, welcome } from './sign-in-context';

const LONGEST_NAME = 200;

/** The page to which the link of an invitation leads. */
export const invitationPages = (context: SignInContext): readonly DoorRoute[] => {
  const path = { path: '/auth/invitation/{token}', pathParameters: linkToken };
  return [
    {
      operation: page({
        ...path,
        id: 'showInvitationPage',
        summary: 'Page to accept an invitation',
        errors: ['database_unavailable'],
      }),
      answer: async (request) => {
        const found = await invitationOf(context, request);
        return found === undefined ? noLink(context.branding) : acceptForm(context.branding, request.path, found);
      },
    },
    {
      operation: page({
        ...path,
        id: 'acceptInvitationOnPage',
        method: 'post',
        status: 303,
        summary: 'Accepts an invitation, once, and signs in',
        description:
          'A form with the fields name, password and again. The new user has a key without a known secret, until it is rotated for the first time.',
        errors: ['cross_site_request', 'too_many_refusals', 'overloaded', 'unsupported_media_type'],
      }),
      answer: (request) => accept(context, request),
    },
  ];
};

const invitationOf = ({ database, now }: SignInContext, { params }: DoorRequest) =>
  findShownInvitation(database, params['token'] ?? '', now());

const acceptForm = (
  branding: Branding,
  path: string,
  { email, workspaceName, role }: FoundInvitation,
  problem?: string,
): DoorAnswer =>
  pageAnswer(branding, {
    title: 'You are invited',
    status: problem === undefined ? 200 : 400,
    content: html`${problemOf(problem)}
      <p>To ${workspaceName}, as ${role}. You will sign in as ${email}.</p>
      <form method="post" action="${path}">
        <label for="name">Your name</label>
        <input id="name" name="name" maxlength="${String(LONGEST_NAME)}" autocomplete="name" />
        ${newPasswordFields()}
        <button type="submit">Accept</button>
      </form>`,
  });

const accept = async (context: SignInContext, request: DoorRequest): Promise<DoorAnswer> => {
  requireSameSite(request.method, request.headers);
  const { branding, database, slots } = context;
  const form = await request.form();
  const found = await guarded(context, request, () => invitationOf(context, request));
  if (found === undefined) return noLink(branding);
  const { id, workspaceId, email } = found;
  const name = (form.get('name') ?? '').trim();
  const problem =
    name.length > LONGEST_NAME || /[\p{Cc}\p{Cs}]/u.test(name)
      ? `The name must have ${LONGEST_NAME} characters at most, and no control characters.`
      : problemWithPassword(form, email);
  if (problem !== undefined) return acceptForm(branding, request.path, found, problem);
  const passwordHash = await slots.run(() => hashPassword(form.get('password') ?? '', randomBytes));
  // Nobody is signed in; the invitation itself is the actor.
  const run = createRunner(database, request, workspaceId, `invitation:${email}`);
  const outcome = await run(async (transaction) => {
    const taken = await takeInvitation(transaction, id, 'accept');
    if (taken === undefined) return undefined;
    const { role, userGroups, allGroups } = taken;
    // First without a password, so that the database makes a key that waits for its first rotation.
    const user = { email, name: name === '' ? null : name, role, userGroups, allGroups, passwordHash: null };
    const made = await createUser(transaction, user);
    if (made.status === 'created') await setPassword(transaction, made.user.id, passwordHash);
    return made;
  });
  if (outcome === undefined) return noLink(branding);
  if (outcome.status === 'email_taken') return isThere(branding);
  const token = await beginSession(context, request, { workspaceId, userId: outcome.user.id, email });
  return token === undefined ? redirectTo('/auth/signin') : welcome(context, request, token);
};

const isThere = (branding: Branding): DoorAnswer =>
  pageAnswer(branding, {
    title: 'You are here already',
    status: 409,
    content: html`<p>Somebody signs in with this address already. If it is you, sign in.</p>
      <p><a href="/auth/signin">Sign in</a></p>`,
  });
