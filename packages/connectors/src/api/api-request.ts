import { isMissing, isPlainObject } from '@decision/values';
import { type ConnectorCall, ConnectorFailure } from '../connector';
import { type HttpRequest, isWeb } from '../network/http-client';
import { fillTemplate, inputAt, neededText, partsOf, revealed, textOf } from '../templates';

type Inputs = ConnectorCall['inputs'];

const METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Idempotent methods; others carry an idempotency key. */
const REPEATABLE: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'];
/** Headers that the connection sets. */
const OWN_HEADERS: readonly string[] = [
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect'],
  ...['proxy-authorization', 'proxy-connection', 'accept-encoding'],
];

const invalid = (message: string, field: string): ConnectorFailure =>
  new ConnectorFailure(message, { outcome: 'invalid', details: { field } });

/** The request that a node of type `api` describes. Throws a {@link ConnectorFailure} if it is not valid. */
export const apiRequestOf = ({ fields, inputs, idempotencyKey, signal }: ConnectorCall): HttpRequest => {
  const method = textOf(fields['method'] ?? 'GET').toUpperCase();
  if (!METHODS.includes(method))
    throw invalid(`The method ${method.slice(0, 20)} is not sent; use one of ${METHODS.join(', ')}.`, 'method');
  const url = apiUrl(String(fields['url']), inputs);
  const headers = apiHeaders(fields['headers'], inputs);
  const body = apiBody(fields['body'], headers, inputs);
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    throw invalid(`A ${method} request takes no body; leave body out, or use POST.`, 'body');
  return {
    ...{ method, url, body: body?.text, signal },
    headers: {
      accept: 'application/json, */*;q=0.1',
      ...(body === undefined ? {} : { 'content-type': body.type }),
      ...(REPEATABLE.includes(method) ? {} : { 'idempotency-key': idempotencyKey }),
      ...headers,
    },
  };
};

/** The address, with each value escaped for a path segment or a part of the query. */
export const apiUrl = (template: string, inputs: Inputs, field = 'url'): URL => {
  const text = fillTemplate(template, inputs, (value, input) => escapedForUrl(neededText(value, input, field)));
  if (!URL.canParse(text) || !isWeb(new URL(text)))
    throw invalid(
      `The ${field} is not an address that begins with http:// or https:// and names a host; values of inputs are escaped, so they can be segments and parts of the query, but not more.`,
      field,
    );
  const [path = ''] = text.split(/[?#]/, 1);
  if (path.split(/[/\\]/).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    throw invalid(`The ${field} has a segment "." or "..", which would lead to another path.`, field);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    throw invalid(`The ${field} holds credentials; send them in the header authorization.`, field);
  url.hash = '';
  return url;
};

/** Through bytes: a lone surrogate has no form in an address. */
const escapedForUrl = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

/** Headers by their names in lower case, filled and checked. */
export const apiHeaders = (given: unknown, inputs: Inputs): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, template] of headersOf(given)) {
    const key = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~\w-]{1,200}$/.test(key))
      throw invalid(`The name of the header ${JSON.stringify(name.slice(0, 100))} is not valid.`, 'headers');
    if (OWN_HEADERS.includes(key))
      throw invalid(`The header ${key} is set by the connection; leave it out.`, 'headers');
    const field = `headers.${key}`;
    const value = fillTemplate(textOf(template), inputs, (one, input) => neededText(one, input, field));
    if (!/^[\t\x20-\x7e\x80-\xff]{0,16384}$/.test(value))
      throw invalid(
        `The header ${key} would hold a line break, or a character that no header holds, or more than 16,384 characters.`,
        field,
      );
    headers[key] = value.trim();
  }
  return headers;
};

/** An object of names, or a list of `{key, value}` or `{name, value}`. */
const headersOf = (given: unknown): readonly (readonly [string, unknown])[] => {
  if (isMissing(given)) return [];
  if (isPlainObject(given)) return Object.entries(given).filter(([, value]) => !isMissing(value));
  if (!Array.isArray(given) || !given.every(isPlainObject))
    throw invalid('The field headers must be an object, or a list of {key, value}.', 'headers');
  return given.map((entry) => [textOf(entry['key'] ?? entry['name']), entry['value'] ?? '']);
};

interface Body {
  readonly text: string;
  readonly type: string;
}

const apiBody = (given: unknown, headers: Readonly<Record<string, string>>, inputs: Inputs): Body | undefined => {
  if (isMissing(given) || given === '') return undefined;
  const type = headers['content-type'] ?? 'application/json';
  if (typeof given !== 'string') {
    if (!isJson(type))
      throw invalid(`The body is an object, and content-type is ${type}; write the body as text.`, 'body');
    return { type, text: JSON.stringify(filledJson(given, inputs)) };
  }
  if (isJson(type)) return { type, text: filledJsonText(given, inputs) };
  const escape = escapeFor(type);
  return { type, text: fillTemplate(given, inputs, (value, input) => escape(neededText(value, input, 'body'))) };
};

const isJson = (type: string): boolean => /^[\w.+/-]*[/+]json(?:\s*;|\s*$)/i.test(type);

const escapeFor = (type: string): ((text: string) => string) => {
  if (/^application\/x-www-form-urlencoded/i.test(type)) return escapedForUrl;
  if (/[/+](?:xml|html)(?:\s*;|\s*$)/i.test(type))
    return (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return (text) => text;
};

/** Fills the texts of a value as templates. A text that is a single `{{input}}` becomes the value of the input, of any type. */
const filledJson = (given: unknown, inputs: Inputs): unknown => {
  if (Array.isArray(given)) return given.map((item) => filledJson(item, inputs));
  if (isPlainObject(given))
    return Object.fromEntries(Object.entries(given).map(([key, member]) => [key, filledJson(member, inputs)]));
  if (typeof given !== 'string') return given;
  const parts = partsOf(given);
  const [only] = parts;
  if (only !== undefined && parts.length === 1 && 'input' in only) return revealed(inputAt(inputs, only.input)) ?? null;
  return fillTemplate(given, inputs, (value, input) => neededText(value, input, 'body'));
};

/** Fills a JSON text: an `{{input}}` inside quotes is escaped for them, and one outside becomes a whole value. */
const filledJsonText = (template: string, inputs: Inputs): string => {
  let isQuoted = false;
  let filled = '';
  for (const part of partsOf(template)) {
    if ('text' in part) {
      filled += part.text;
      isQuoted = endsQuoted(part.text, isQuoted);
      continue;
    }
    const value = inputAt(inputs, part.input);
    filled += isQuoted
      ? JSON.stringify(neededText(value, part.input, 'body')).slice(1, -1)
      : JSON.stringify(revealed(value) ?? null);
  }
  try {
    JSON.parse(filled);
  } catch {
    throw invalid('The filled body is not JSON; correct it, or set the header content-type to its type.', 'body');
  }
  return filled;
};

/** Whether a text of JSON ends inside quotes. */
const endsQuoted = (text: string, wasQuoted: boolean): boolean => {
  let isQuoted = wasQuoted;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') isQuoted = !isQuoted;
    else if (isQuoted && text[at] === '\\') at += 1;
  }
  return isQuoted;
};
