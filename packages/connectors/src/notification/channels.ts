import { createHmac } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { checkStatus } from '../api/api-connector';
import { ConnectorFailure } from '../connector';
import { createAddressGuard, type Lookup } from '../network/address-guard';
import { createHttpClient, originOf } from '../network/http-client';
import { domainOf, type EmailMessage, readContent, type SlackMessage, type WebhookMessage } from './messages';

/** The operator's mail server. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** `starttls`: required; `implicit`: from the first byte on; `none`: never. */
  readonly tls: 'starttls' | 'implicit' | 'none';
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** Plain address that mails come from. */
  readonly from: string;
  /** Certificates of authorities that are trusted, PEM. Default: those of the runtime. */
  readonly ca?: string | undefined;
}

interface ChannelsOptions {
  /** Private targets of webhooks that are allowed: FLOW_NOTIFICATION_ALLOWED_HOSTS. */
  readonly allowedHosts: readonly string[];
  readonly signingKeys: ReadonlyMap<string, string>;
  /** Undefined: mails are not sent. */
  readonly mailServer: MailServer | undefined;
  readonly lookup?: Lookup;
  /** As of the mail server. */
  readonly ca?: string | undefined;
}

/** A message that is to be sent. */
export interface OutgoingMessage {
  readonly id: string;
  readonly channel: string;
  readonly content: string;
}

/** Sends messages, each once. */
export interface Channels {
  /**
   * Resolves once the message was accepted, with how many of its recipients were refused. Rejects with a {@link ConnectorFailure}, which says whether
   * another attempt may succeed and shows nothing of the message.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<{ readonly refused: number }>;
  stop(): Promise<void>;
}

/** Bytes of the answer of a webhook that are read. */
const MAX_ANSWER_BYTES = 1_048_576;
const MAIL_CONNECTIONS = 4;
const CONNECT_MS = 10_000;

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
  const mail = mailServer && createMail(mailServer);
  return {
    send: async ({ id, channel, content }, signal) => {
      // What is stored was made by this package.
      const message: unknown = readContent(content);
      if (channel === 'email') return requireMail(mail).send(id, message as EmailMessage, signal);
      if (channel === 'slack') {
        const { url, body } = message as SlackMessage;
        return post(url, {}, body, signal);
      }
      const { url, headers, secret, body } = message as WebhookMessage;
      const signed = signatureHeaders(id, body, keyNamed(signingKeys, secret));
      return post(url, { ...headers, ...signed }, body, signal);
    },
    stop: async () => {
      mail?.stop();
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

/** What tells the receiver which message this is, and that it is of this deployment: a signature of id, time and body. */
const signatureHeaders = (id: string, body: string, key: string | undefined): Record<string, string> => {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const headers = { 'idempotency-key': id, 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (key === undefined) return headers;
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
};

const requireMail = (mail: Mail | undefined): Mail => {
  if (mail !== undefined) return mail;
  throw new ConnectorFailure('Mails are not sent here: FLOW_NOTIFICATION_SMTP_HOST is not set in this process.', {
    mayRetry: true,
  });
};

interface Mail {
  send(id: string, message: EmailMessage, signal: AbortSignal): Promise<{ readonly refused: number }>;
  stop(): void;
}

const createMail = ({ host, port, tls, user, password, from, ca }: MailServer): Mail => {
  const transport = createTransport({
    ...{ pool: true, maxConnections: MAIL_CONNECTIONS, host, port },
    ...{ secure: tls === 'implicit', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
    ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
    ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: 2 * CONNECT_MS },
    ...{ disableFileAccess: true, disableUrlAccess: true, tls: ca === undefined ? {} : { ca } },
  });
  const plain = (address: string) => ({ name: '', address });
  return {
    send: async (id, message, signal) => {
      try {
        const { rejected } = await transport.sendMail({
          ...{ from: plain(message.from ?? from), to: message.to.map(plain), subject: message.subject },
          ...(message.replyTo === undefined ? {} : { replyTo: plain(message.replyTo) }),
          ...{ text: message.text, messageId: `<${id}@${domainOf(from)}>`, signal },
        });
        return { refused: rejected.length };
      } catch (error) {
        throw mailFailure(error, signal);
      }
    },
    stop: () => transport.close(),
  };
};

/** Answers of mail servers name recipients: only their codes are told. */
const mailFailure = (error: unknown, signal: AbortSignal): ConnectorFailure => {
  if (signal.reason instanceof ConnectorFailure) return signal.reason;
  const { code = 'unknown', responseCode } = error as { readonly code?: string; readonly responseCode?: number };
  if (responseCode === undefined || code === 'EAUTH' || code === 'ETLS')
    return new ConnectorFailure(
      `The mail server could not be asked (${code}); check its settings, and whether it is up.`,
      {
        mayRetry: true,
      },
    );
  return new ConnectorFailure(`The mail server answered ${responseCode}.`, { mayRetry: responseCode < 500 });
};
