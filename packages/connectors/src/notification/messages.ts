import { isPlainObject } from '@decision/values';
import { type FlowNotification } from '@decision/flows';
import { apiHeaders, apiUrl } from '../api/api-request';
import { type ConnectorCall, ConnectorFailure } from '../connector';
import { fillTemplate, neededText } from '../templates';

/** A message to a webhook. */
export interface WebhookMessage {
  readonly url: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Name of the key that signs it; undefined: the key named `default`, if there is one. */
  readonly secret?: string | undefined;
  readonly body: string;
}

/** A mail. Addresses are plain ones, without names. */
export interface EmailMessage {
  readonly to: readonly string[];
  /** Undefined: the operator's. */
  readonly from?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly subject: string;
  readonly text: string;
}

/** A message to an incoming webhook that accepts `{"text"}`. */
export interface SlackMessage {
  readonly url: string;
  readonly body: string;
}

/** What the operator allows. */
export interface ChannelSettings {
  /** Sender address of mails; undefined: no mail is sent. */
  readonly mailFrom: string | undefined;
  readonly signingKeys: ReadonlyMap<string, string>;
}

/** Maximum characters of a title and of a message, after filling. */
const MAX_TITLE = 500;
const MAX_MESSAGE = 65_536;
/** Headers that describe the notification to a webhook. */
const OWN_HEADERS: readonly string[] = ['idempotency-key', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const MAIL_ADDRESS = new RegExp(`^[A-Za-z0-9.!#$%&'*+/=?^_\`{|}~-]{1,64}@${LABEL}(?:\\.${LABEL})*$`);

type Fields = Readonly<Record<string, unknown>>;
type Escape = (text: string) => string;

const invalid = (message: string, field: string): ConnectorFailure =>
  new ConnectorFailure(message, { outcome: 'invalid', details: { field } });

/**
 * One notification for each channel of a node, in the order webhook, email, Slack. Throws a {@link ConnectorFailure} if one cannot be made.
 */
export const notificationsOf = (call: ConnectorCall, settings: ChannelSettings): readonly FlowNotification[] => {
  const { webhook, email, slack } = call.fields['channels'] as Readonly<Record<string, Fields | undefined>>; // its schema was checked
  const made = (channel: FlowNotification['channel'], message: object): FlowNotification => ({
    id: idOf(call, channel),
    channel,
    content: JSON.stringify(message),
  });
  return [
    ...(webhook === undefined ? [] : [made('webhook', webhookMessage(call, webhook, settings))]),
    ...(email === undefined ? [] : [made('email', emailMessage(call, email, settings))]),
    ...(slack === undefined ? [] : [made('slack', slackMessage(call, slack))]),
  ];
};

const idOf = ({ idempotencyKey }: ConnectorCall, channel: string): string => `${idempotencyKey}.${channel}`;

const webhookMessage = (call: ConnectorCall, channel: Fields, { signingKeys }: ChannelSettings): WebhookMessage => {
  const { inputs } = call;
  const headers = apiHeaders(channel['headers'], inputs);
  const own = OWN_HEADERS.find((name) => name in headers);
  if (own !== undefined) throw invalid(`The header ${own} is set by the service; leave it out.`, 'channels');
  const secret = channel['secret'] as string | undefined; // its schema was checked
  if (secret !== undefined && !signingKeys.has(secret))
    throw new ConnectorFailure(
      `There is no signing key "${secret.slice(0, 100)}"; ask the operator to add it to FLOW_NOTIFICATION_SIGNING_KEYS, or leave secret out.`,
      { outcome: 'not_available', details: { field: 'channels' } },
    );
  const body = { id: idOf(call, 'webhook'), title: titleOf(call), message: messageOf(call), data: inputs };
  return {
    url: apiUrl(String(channel['url']), inputs, 'channels.webhook.url').href,
    headers,
    secret,
    body: JSON.stringify(body),
  };
};

const emailMessage = (call: ConnectorCall, channel: Fields, { mailFrom }: ChannelSettings): EmailMessage => {
  if (mailFrom === undefined)
    throw new ConnectorFailure(
      'Mails cannot be sent: FLOW_NOTIFICATION_SMTP_HOST is not set. Ask the operator to set it, or use another channel.',
      { outcome: 'not_available', details: { field: 'channels' } },
    );
  const address = (template: unknown, field: string): string => mailAddress(String(template), call, field);
  const optional = (field: string): string | undefined =>
    channel[field] === undefined ? undefined : address(channel[field], field);
  const from = optional('from');
  if (from !== undefined && domainOf(from) !== domainOf(mailFrom))
    throw invalid(
      `Mails come from addresses of ${domainOf(mailFrom)}; leave from out, or use one of them.`,
      'channels',
    );
  const to = new Set((channel['to'] as readonly string[]).map((template) => address(template, 'to')));
  return { to: [...to], from, replyTo: optional('replyTo'), subject: titleOf(call), text: messageOf(call) };
};

const mailAddress = (template: string, { inputs }: ConnectorCall, field: string): string => {
  const address = filled(template, inputs, `channels.email.${field}`);
  if (address.length <= 254 && MAIL_ADDRESS.test(address)) return address;
  throw invalid(
    `The field channels.email.${field} must give one plain address such as ann@example.com, without a name, commas and line breaks.`,
    'channels',
  );
};

/** In lower case. */
const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();

/** Characters that a client of this format treats as a mention, a link or the end of one. */
const escapeSlack: Escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

const slackMessage = (call: ConnectorCall, channel: Fields): SlackMessage => {
  const title = titleOf(call, escapeSlack);
  const text = [title === '' ? '' : `*${title}*`, messageOf(call, escapeSlack)]
    .filter((part) => part !== '')
    .join('\n');
  if (text === '')
    throw invalid('A message to Slack needs a text; set titleTemplate or messageTemplate.', 'messageTemplate');
  return {
    url: apiUrl(String(channel['url']), call.inputs, 'channels.slack.url').href,
    body: JSON.stringify({ text }),
  };
};

/** On one line: a character that would begin another line, or a header, becomes a blank. */
const titleOf = ({ fields, inputs }: ConnectorCall, escape?: Escape): string => {
  const title = filled(fields['titleTemplate'], inputs, 'titleTemplate', escape)
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  if (title.length <= MAX_TITLE) return title;
  throw invalid(
    `The title has ${title.length} characters, and the limit is ${MAX_TITLE}; shorten it.`,
    'titleTemplate',
  );
};

const messageOf = ({ fields, inputs }: ConnectorCall, escape?: Escape): string => {
  const message = filled(fields['messageTemplate'], inputs, 'messageTemplate', escape);
  if (message.length <= MAX_MESSAGE) return message;
  throw invalid(
    `The message has ${message.length} characters, and the limit is ${MAX_MESSAGE}; shorten it.`,
    'messageTemplate',
  );
};

const filled = (template: unknown, inputs: Fields, field: string, escape: Escape = (text) => text): string =>
  fillTemplate(typeof template === 'string' ? template : '', inputs, (value, input) =>
    escape(neededText(value, input, field)),
  );

/** The message of a stored notification. Throws if its content has another form. */
export const readContent = (content: string): Fields => {
  const read: unknown = JSON.parse(content);
  if (isPlainObject(read)) return read;
  throw new ConnectorFailure('What is to be sent cannot be read.', { outcome: 'invalid' });
};
