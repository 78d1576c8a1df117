import { type Html, html, passwordField } from '../pages/html';

/** As in the API (`CreateUserRequest`). */
const SHORTEST = 12;
/** Maximum characters of a password. */
export const MAX_PASSWORD = 1_000;

/** The fields for choosing a password. */
export const newPasswordFields = (): Html =>
  html`${passwordField({
    ...{ name: 'password', label: `New password, at least ${SHORTEST} characters` },
    autocomplete: 'new-password',
  })}
  ${passwordField({ name: 'again', label: 'The same again', autocomplete: 'new-password' })}`;

/** The fault of a chosen password, as a sentence. */
export const problemWithPassword = (form: URLSearchParams, email: string): string | undefined => {
  const [password, again] = [form.get('password') ?? '', form.get('again') ?? ''];
  if (password !== again) return 'The two new passwords are not the same.';
  const length = [...password].length;
  if (length < SHORTEST) return `The new password has ${length} characters; it needs ${SHORTEST} at least.`;
  if (password.length > MAX_PASSWORD) return `The new password is too long: ${MAX_PASSWORD} characters are the most.`;
  return password.toLowerCase() === email.toLowerCase()
    ? 'The new password must not be your email address.'
    : undefined;
};
