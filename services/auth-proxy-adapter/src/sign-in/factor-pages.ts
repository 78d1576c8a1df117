import { randomBytes } from 'node:crypto';
import { page, ServiceError } from '@decision/contracts';
import {
  clearTotp,
  confirmTotp,
  describeCredentials,
  findPendingTotp,
  revokeSessionsOf,
  saveRecoveryCodes,
  setTotp,
  type Transaction,
} from '@decision/persistence';
import { requireSameSite } from '@decision/sessions';
import qrcode from 'qrcode-generator';
import { type DoorAnswer, type DoorRequest, type DoorRoute } from '../door/route';
import { Html, html, pageAnswer, passwordField, problemOf, redirectTo } from '../pages/html';
import { asPerson } from '../people/person-routes';
import { requireVisitor, type Visitor } from '../people/visitors';
import { provePassword, WRONG_PASSWORD } from './own-password';
import { factorAddress, hashOfRecoveryCode, newFactorSecret, newRecoveryCodes, stepOfCode } from './second-factor';
import { announceEnds, createRunner, pageOfVisitor, type SignInContext } from './sign-in-context';

const PATH = '/auth/factor';
const ERRORS = ['invalid_session', 'database_unavailable'] as const;

/** Pages on which people with a local password turn their second factor on and off. */
export const factorPages = (context: SignInContext): readonly DoorRoute[] => [
  {
    operation: page({
      id: 'showFactor',
      path: PATH,
      summary: 'Page on the own second factor',
      description: 'Whether there is one, and how many recovery codes are left.',
      errors: ERRORS,
    }),
    answer: pageOfVisitor(context, (request, visitor) => show(context, request, visitor)),
  },
  {
    operation: page({
      id: 'changeFactor',
      method: 'post',
      path: PATH,
      summary: 'Turns the own second factor on or off',
      description:
        'A form with the field action: start (with password) shows a new secret, confirm (with code) turns it on and shows ten recovery codes, codes (with password) shows new ones, off (with password) turns it off. Turning it on ends all other sessions of the person.',
      errors: [...ERRORS, 'cross_site_request', 'too_many_refusals', 'overloaded', 'unsupported_media_type'],
    }),
    answer: async (request) => {
      requireSameSite(request.method, request.headers);
      const visitor = await requireVisitor(context, request);
      const form = await request.form();
      const change = CHANGES.get(form.get('action') ?? '');
      if (change === undefined)
        throw new ServiceError('invalid_request', 'The field "action" must be start, confirm, codes or off.');
      return change(context, request, visitor, form);
    },
  },
];

type Change = (
  context: SignInContext,
  request: DoorRequest,
  visitor: Visitor,
  form: URLSearchParams,
) => Promise<DoorAnswer>;

interface Said {
  readonly status: number;
  readonly problem: string;
}

const show = async (
  context: SignInContext,
  request: DoorRequest,
  visitor: Visitor,
  said?: Said,
): Promise<DoorAnswer> => {
  const known = await asPerson(context, visitor, request, (transaction) =>
    describeCredentials(transaction, visitor.session.userId),
  );
  const content =
    known?.hasPassword !== true
      ? html`<p>You have no password here: your identity provider decides whether it asks for a second factor.</p>`
      : known.hasTotp
        ? whileOn(known.recoveryCodes)
        : html`<p>A second factor is a code from an app on your phone, asked for after your password.</p>
            ${form('start', 'Turn it on')}`;
  return pageAnswer(context.branding, {
    title: 'Second factor',
    status: said?.status ?? 200,
    content: html`${problemOf(said?.problem)}${content}
      <p><a href="/dashboard">Go back</a></p>`,
  });
};

const whileOn = (codes: number): Html =>
  html`<p>Your second factor is on. Recovery codes that are left: ${String(codes)}.</p>
    <h2>New recovery codes</h2>
    ${form('codes', 'Replace them')}
    <h2>Without a second factor</h2>
    ${form('off', 'Turn it off')}`;

const form = (action: string, label: string): Html =>
  html`<form method="post" action="${PATH}">
    <input type="hidden" name="action" value="${action}" />
    ${passwordField({ id: `password-${action}`, name: 'password', label: 'Your password', autocomplete: 'current-password' })}
    <button type="submit">${label}</button>
  </form>`;

/** A change that requires the password. */
const withPassword =
  (change: Change): Change =>
  async (context, request, visitor, fields) =>
    (await provePassword(context, request, visitor, fields.get('password') ?? ''))
      ? change(context, request, visitor, fields)
      : show(context, request, visitor, { status: 401, problem: WRONG_PASSWORD });

const start: Change = async (context, request, visitor) => {
  const secret = newFactorSecret(randomBytes);
  await asPerson(context, visitor, request, (transaction) => setTotp(transaction, visitor.session.userId, secret));
  return showSecret(context, visitor, secret);
};

const showSecret = (context: SignInContext, { session: { email } }: Visitor, secret: string, said?: Said): DoorAnswer =>
  pageAnswer(context.branding, {
    title: 'Turn your second factor on',
    status: said?.status ?? 200,
    content: html`${problemOf(said?.problem)}
      <p>Read this picture with your authenticator app, or type the secret there.</p>
      ${pictureOf(factorAddress(secret, { issuer: context.branding.name, email }))}
      <p><code>${secret.replace(/(.{4})(?=.)/g, '$1 ')}</code></p>
      <form method="post" action="${PATH}">
        <input type="hidden" name="action" value="confirm" />
        <label for="code">The code that the app shows</label>
        <input id="code" name="code" maxlength="20" autocomplete="one-time-code" required />
        <button type="submit">Turn it on</button>
      </form>`,
  });

const pictureOf = (text: string): Html => {
  // 0: the smallest size that the text fits into; M: 15 percent may be unreadable.
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  return new Html(code.createSvgTag({ cellSize: 4, margin: 16 }));
};

const confirm: Change = async (context, request, visitor, fields) => {
  const { userId, sessionId, workspaceId } = visitor.session;
  const secret = await asPerson(context, visitor, request, (transaction) => findPendingTotp(transaction));
  if (secret === undefined) return show(context, request, visitor, NOTHING_WAITS);
  const step = stepOfCode(secret, fields.get('code') ?? '', context.now());
  if (step === undefined)
    return showSecret(context, visitor, secret, { status: 400, problem: 'This is not the code of this moment.' });
  const codes = newRecoveryCodes(randomBytes);
  const run = createRunner(context.database, request, workspaceId, `user:${userId}`);
  const ended = await run(async (transaction) => {
    if (!(await confirmTotp(transaction, userId, step))) return undefined;
    await saveCodes(transaction, userId, codes);
    return announceEnds(transaction, await revokeSessionsOf(transaction, userId, { except: sessionId }));
  });
  if (ended === undefined) return show(context, request, visitor, NOTHING_WAITS);
  await Promise.all(ended.map((key) => context.forget(workspaceId, key)));
  return showCodes(context, codes, 'Your second factor is on. Sign in again everywhere else.');
};

const NOTHING_WAITS = { status: 409, problem: 'No second factor waits for its first code; begin again.' };

const saveCodes = (transaction: Transaction, userId: string, codes: readonly string[]): Promise<void> =>
  saveRecoveryCodes(
    transaction,
    userId,
    codes.flatMap((code) => hashOfRecoveryCode(code) ?? []),
  );

const showCodes = ({ branding }: SignInContext, codes: readonly string[], sentence: string): DoorAnswer =>
  pageAnswer(branding, {
    title: 'Recovery codes',
    content: html`<p>${sentence}</p>
      <p>Each of these codes takes the place of one from your app, once. They are not shown again.</p>
      <ul>
        ${codes.map((code) => html`<li><code>${code}</code></li>`)}
      </ul>
      <p><a href="/dashboard">Go on</a></p>`,
  });

const replaceCodes: Change = async (context, request, visitor) => {
  const { userId } = visitor.session;
  const codes = newRecoveryCodes(randomBytes);
  const isOn = await asPerson(context, visitor, request, async (transaction) => {
    if ((await describeCredentials(transaction, userId))?.hasTotp !== true) return false;
    await saveCodes(transaction, userId, codes);
    return true;
  });
  return isOn
    ? showCodes(context, codes, 'Earlier codes count no more.')
    : show(context, request, visitor, { status: 409, problem: 'There is no second factor to have codes for.' });
};

const turnOff: Change = async (context, request, visitor) => {
  await asPerson(context, visitor, request, (transaction) => clearTotp(transaction, visitor.session.userId));
  return redirectTo(PATH);
};

const CHANGES: ReadonlyMap<string, Change> = new Map([
  ['start', withPassword(start)],
  ['confirm', confirm],
  ['codes', withPassword(replaceCodes)],
  ['off', withPassword(turnOff)],
]);
