import { randomBytes } from 'node:crypto';
import { type Branding, page } from '@decision/contracts';
import { type Mailer } from '@decision/mail';
import { findSignIn, offerUserLink } from '@decision/persistence';
import { createLinkToken, type Logger, type Metrics } from '@decision/service-kit';
import { requireSameSite } from '@decision/sessions';
import { type Slots } from '@decision/waiting';
import { createSignInSlots } from '../door/sign-in-slots';
import { type DoorAnswer, type DoorRequest, type DoorRoute } from '../door/route';
import { html, pageAnswer } from '../pages/html';
import { isAddress } from '../passthrough/claims';
import { createRunner, type SignInContext } from './sign-in-context';

/** Settings of mails to people. */
export interface MailToPeople {
  readonly mailer: Pick<Mailer, 'send'>;
  /** Public address of this deployment, without a trailing slash. */
  readonly publicUrl: string;
  readonly logger: Pick<Logger, 'warn'>;
  readonly metrics: Pick<Metrics, 'counter'>;
}

interface ForgottenContext extends Pick<SignInContext, 'branding' | 'database' | 'guard' | 'workspaceId' | 'now'> {
  /** Undefined: there is no mail server, and administrators pass links on. */
  readonly mail: MailToPeople | undefined;
}

/** Mails that may be sent at once, and that may wait. */
const MAILS = { running: 2, waiting: 200 };
/** How long one mail may take, ms. */
const MAIL_MS = 20_000;
/** How long a link from a mail works, ms. */
const LIFE_MS = 3_600_000;
/** Minimum time between two mails to a person, s. */
const PAUSE_SECONDS = 300;

/** Help with a forgotten password: a mail, or advice to ask an administrator. */
export const forgottenPages = (context: ForgottenContext): readonly DoorRoute[] => {
  const { branding, mail } = context;
  const show: DoorRoute = {
    operation: page({
      id: 'showForgottenPassword',
      path: '/auth/forgotpass',
      summary: 'What to do about a forgotten password',
      description: 'A form for the email address where the service sends mail; else it says whom to ask.',
    }),
    answer: () => (mail === undefined ? askSomebody(branding) : askForAddress(branding)),
  };
  if (mail === undefined) return [show];
  const send = createSender(context, mail);
  return [
    show,
    {
      operation: page({
        id: 'mailPasswordLink',
        method: 'post',
        path: '/auth/forgotpass',
        summary: 'Sends a link for a forgotten password',
        description:
          'A form with the field email. The answer is the same whether or not the address is known. A person who has a password here is sent at most one mail in five minutes; its link works once, for an hour.',
        errors: ['cross_site_request', 'too_many_refusals', 'unsupported_media_type'],
      }),
      answer: (request) => sendLink(context, send, request),
    },
  ];
};

const askSomebody = (branding: Branding): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Forgotten password',
    content: html`<p>
        This service sends no mail. Ask one of its administrators for a link; with it you choose a new password.
      </p>
      <p><a href="/auth/signin">Sign in</a></p>`,
  });

const askForAddress = (branding: Branding): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Forgotten password',
    content: html`<form method="post" action="/auth/forgotpass">
        <label for="email">Email address</label>
        <input id="email" name="email" type="email" maxlength="254" autocomplete="username" required />
        <button type="submit">Send me a link</button>
      </form>
      <p><a href="/auth/signin">Sign in</a></p>`,
  });

/** Every request counts against its address, like a wrong password; the work is done after the answer, so that its time reveals nothing. */
const sendLink = async (
  { branding, guard }: ForgottenContext,
  send: (request: DoorRequest, email: string) => void,
  request: DoorRequest,
): Promise<DoorAnswer> => {
  requireSameSite(request.method, request.headers);
  const email = (await request.form()).get('email') ?? '';
  const check = guard.admit(request.context.address);
  send(request, email);
  await check.refuse(performance.now());
  return pageAnswer(branding, {
    title: 'Look into your mail',
    content: html`<p>If somebody with a password here has this address, a mail with a link is on its way to it.</p>
      <p><a href="/auth/signin">Sign in</a></p>`,
  });
};

const createSender = (context: ForgottenContext, mail: MailToPeople) => {
  const slots = createSignInSlots(MAILS);
  const outcomes = mail.metrics.counter({
    name: 'decision_password_mails_total',
    help: 'Mails with links for forgotten passwords: sent, none (no such person, or one was sent recently), or failed.',
    labelNames: ['outcome'],
  });
  return (request: DoorRequest, email: string): void => {
    mailLink(context, mail, slots, request, email).then(
      (sent) => outcomes.inc({ outcome: sent ? 'sent' : 'none' }),
      (error: unknown) => {
        outcomes.inc({ outcome: 'failed' });
        mail.logger.warn({ err: error }, 'A mail with a link for a forgotten password was not sent.');
      },
    );
  };
};

const mailLink = (
  { database, workspaceId: findWorkspace, now, branding }: ForgottenContext,
  { mailer, publicUrl }: MailToPeople,
  slots: Slots,
  request: DoorRequest,
  email: string,
): Promise<boolean> =>
  slots.run(async () => {
    if (!isAddress(email)) return false;
    const workspaceId = await findWorkspace();
    const stored = await findSignIn(database, workspaceId, email);
    // A person without a local password is signed in elsewhere, where access may have been revoked.
    if (stored === undefined || stored.disabledAt !== null || stored.passwordHash === null) return false;
    const { userId } = stored;
    const { token, selector, tokenHash } = createLinkToken(randomBytes);
    const expiresAt = new Date(now() + LIFE_MS).toISOString();
    const link = { userId, purpose: 'reset', selector, tokenHash, expiresAt } as const;
    const run = createRunner(database, request, workspaceId, `user:${userId}`);
    if (!(await run((transaction) => offerUserLink(transaction, link, PAUSE_SECONDS)))) return false;
    const text = `Somebody asked for a new password for ${branding.name} with your address. Choose it on this page, once, within an hour:\n\n${publicUrl}/auth/reset/${token}\n\nIf it was not you, do nothing: your password stays.\n`;
    const subject = `Your password for ${branding.name}`;
    await mailer.send({ id: `password-${selector}`, to: [stored.email], subject, text }, AbortSignal.timeout(MAIL_MS));
    return true;
  });
