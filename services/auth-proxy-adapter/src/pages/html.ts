import { type Branding } from '@decision/contracts';
import { type DoorAnswer } from '../door/route';

/** Text that is already HTML. */
export class Html {
  constructor(readonly text: string) {}
}

/** HTML from a template: values are escaped, unless they are {@link Html} or a list of it. */
export const html = (parts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html =>
  new Html(parts.map((part, index) => `${part}${index < values.length ? htmlOf(values[index] ?? '') : ''}`).join(''));

const htmlOf = (value: string | Html | readonly Html[]): string => {
  if (typeof value === 'string') return escape(value);
  return value instanceof Html ? value.text : value.map(({ text }) => text).join('');
};

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

/**
 * Headers of every page. Nothing inline runs; forms go to this service alone; no page can be framed. The referrer stays within the site,
 * since without one a browser would send no usable `Origin` with a form.
 */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' https: data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
  'x-frame-options': 'DENY',
} as const;

/** Path of the style sheet of all pages. */
export const STYLE_PATH = '/auth/pages.css';

interface PageContent {
  /** Without the name of the operator. */
  readonly title: string;
  readonly content: Html;
  /** Default 200. */
  readonly status?: number;
  readonly cookies?: readonly string[];
}

/** A page with the name, logo and links of the operator. */
export const pageAnswer = (
  branding: Branding,
  { title, content, status = 200, cookies = [] }: PageContent,
): DoorAnswer => ({
  status,
  headers: PAGE_HEADERS,
  cookies,
  body: html`<!doctype html>
    <html lang="en" data-external-auth-token-passthrough="${String(branding.external_auth_token_passthrough)}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} - ${branding.name}</title>
        <link rel="stylesheet" href="${STYLE_PATH}" />
      </head>
      <body>
        <header>${logoOf(branding)}<strong>${branding.name}</strong></header>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
        <footer>${branding.links.map(({ label, url }) => html`<a href="${url}" rel="noopener">${label}</a> `)}</footer>
      </body>
    </html> `.text,
});

const logoOf = ({ logo_url: logo }: Branding): Html =>
  logo === null ? html`` : html`<img src="${logo}" alt="" height="32" /> `;

/** The problem of a sent form, above the form; empty without a problem. */
export const problemOf = (problem: string | undefined): Html =>
  problem === undefined ? html`` : html`<p class="problem" role="alert">${problem}</p>`;

interface PasswordField {
  /** Default: the name. */
  readonly id?: string;
  readonly name: string;
  readonly label: string;
  readonly autocomplete: 'current-password' | 'new-password';
}

export const passwordField = ({ name, id = name, label, autocomplete }: PasswordField): Html =>
  html`<label for="${id}">${label}</label>
    <input id="${id}" name="${name}" type="password" maxlength="1000" autocomplete="${autocomplete}" required />`;

/** Redirects a browser; 303 turns the request into a GET. */
export const redirectTo = (location: string, cookies: readonly string[] = []): DoorAnswer => ({
  status: 303,
  headers: { location, 'content-type': 'text/plain; charset=utf-8' },
  cookies,
  body: '',
});
