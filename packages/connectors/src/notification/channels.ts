import { createHmac } from 'node:crypto';
import { createMailer, type Mail, MailFailure, type Mailer, type MailServer } from '@decision/mail';
import { checkStatus } from '../api/api-connector';
import { ConnectorFailure } from '../connector';
import { createAddressGuard, type Lookup } from '../network/address-guard';
import { createHttpClient, originOf } from '../network/http-client';
import { type EmailMessage, readContent, type SlackMessage, type WebhookMessage } from './messages';

interface ChannelsOptions {
  /** Private targets that webhooks may have: FLOW_NOTIFICATION_ALLOWED_HOSTS. */
  readonly allowedHosts: readonly string[];
  readonly signingKeys: ReadonlyMap<string, string>;
  /** Undefined: no mails are sent. */
  readonly mailServer: MailServer | undefined;
  readonly lookup?: Lookup;
  /** As for the mail server. */
  readonly ca?: string | undefined;
}

/** A message to send. */
export interface OutgoingMessage {
  readonly id: string;
  readonly channel: string;
  readonly content: string;
}

/** Sends messages, one attempt each. */
export interface Channels {
  /**
   * Resolves once the message is accepted, with the number of refused recipients. Rejects with a {@link ConnectorFailure}, which says
   * whether another attempt may succeed and shows nothing of the message.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<{ readonly refused: number }>;
  stop(): Promise<void>;
}

/** Bytes of the answer of a webhook that are read. */
const MAX_ANSWER_BYTES = 1_048_576;

export const createChannels = (options: ChannelsOptions): Channels => {
  const { allowedHosts, signingKeys, mailServer, lookup, ca } = options;
  const guard = createAddressGuard({
    ...{ allowed: allowedHosts, setting: 'FLOW_NOTIFICATION_ALLOWED_HOSTS' },
    ...(lookup === undefined ? {} : { lookup }),
  });
  const client = createHttpClient({ guard, maxBytes: MAX_ANSWER_BYTES, maxRedirects: 0, ca });
  const post = async (url: string, headers: Readonly<Record<string, string>>, body: string, signal: AbortSignal) => {
    const target = new URL(url);
    const all = { accept: '*/*', 'content-type': 'application/json', ...headers };
    const answer = await client.ask({ method: 'POST', url: target, headers: all, body, signal });
    checkStatus(answer, originOf(target));
    if (answer.status >= 300)
      throw new ConnectorFailure(`${originOf(target)} answered ${answer.status}, which is no acceptance.`);
    return { refused: 0 };
  };
  const mailer = mailServer && createMailer(mailServer);
  return {
    send: async ({ id, channel, content }, signal) => {
      // Stored content was made by this package.
      const message: unknown = readContent(content);
      if (channel === 'email') return sendMail(mailer, { id, ...(message as EmailMessage) }, signal);
      if (channel === 'slack') {
        const { url, body } = message as SlackMessage;
        return post(url, {}, body, signal);
      }
      const { url, headers, secret, body } = message as WebhookMessage;
      const signed = signatureHeaders(id, body, keyNamed(signingKeys, secret));
      return post(url, { ...headers, ...signed }, body, signal);
    },
    stop: async () => {
      mailer?.stop();
      await client.stop();
    },
  };
};

const keyNamed = (keys: ReadonlyMap<string, string>, name: string | undefined): string | undefined => {
  const key = keys.get(name ?? 'default');
  if (key !== undefined || name === undefined) return key;
  throw new ConnectorFailure(
    `There is no signing key "${name}" any more; add it to FLOW_NOTIFICATION_SIGNING_KEYS, and try again.`,
  );
};

/** Headers by which the receiver identifies the message and its sender: the id, and a signature of id, time and body. */
const signatureHeaders = (id: string, body: string, key: string | undefined): Record<string, string> => {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const headers = { 'idempotency-key': id, 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (key === undefined) return headers;
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
};

/** Sends a mail. Throws a {@link ConnectorFailure}. */
const sendMail = async (
  mailer: Mailer | undefined,
  mail: Mail,
  signal: AbortSignal,
): Promise<{ readonly refused: number }> => {
  if (mailer === undefined)
    throw new ConnectorFailure('Mails are not sent here: FLOW_NOTIFICATION_SMTP_HOST is not set in this process.', {
      mayRetry: true,
    });
  try {
    return await mailer.send(mail, signal);
  } catch (error) {
    throw error instanceof MailFailure ? new ConnectorFailure(error.message, { mayRetry: error.mayRetry }) : error;
  }
};
