import { createTransport } from 'nodemailer';
import { type MailServer } from './mail-server';

/** A mail. Addresses are plain ones, without names. */
export interface Mail {
  /** Unique; the part of the Message-ID before the domain. */
  readonly id: string;
  readonly to: readonly string[];
  /** Undefined: the operator's. */
  readonly from?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly subject: string;
  readonly text: string;
}

/** A mail that was not sent. The sentence names no recipient. */
export class MailFailure extends Error {
  override readonly name = 'MailFailure';

  constructor(
    message: string,
    /** Whether another attempt may succeed. */
    readonly mayRetry: boolean,
  ) {
    super(message);
  }
}

/** Sends mails. */
export interface Mailer {
  /**
   * Resolves once the server has accepted the mail, with the number of refused recipients. Rejects with a {@link MailFailure}, or the
   * reason of the signal.
   */
  send(mail: Mail, signal: AbortSignal): Promise<{ readonly refused: number }>;
  stop(): void;
}

const CONNECTIONS = 4;
const CONNECT_MS = 10_000;

/** Sends mails through one server, over at most four connections. */
export const createMailer = ({ host, port, tls, user, password, from, ca }: MailServer): Mailer => {
  const transport = createTransport({
    ...{ pool: true, maxConnections: CONNECTIONS, host, port },
    ...{ secure: tls === 'implicit', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
    ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
    ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: 2 * CONNECT_MS },
    ...{ disableFileAccess: true, disableUrlAccess: true, tls: ca === undefined ? {} : { ca } },
  });
  return {
    send: async (mail, signal) => {
      try {
        const { rejected } = await transport.sendMail({
          ...{ from: plain(mail.from ?? from), to: mail.to.map(plain), subject: mail.subject, text: mail.text },
          ...(mail.replyTo === undefined ? {} : { replyTo: plain(mail.replyTo) }),
          ...{ messageId: `<${mail.id}@${from.slice(from.lastIndexOf('@') + 1).toLowerCase()}>`, signal },
        });
        return { refused: rejected.length };
      } catch (error) {
        throw signal.aborted && signal.reason instanceof Error ? signal.reason : failureOf(error);
      }
    },
    stop: () => transport.close(),
  };
};

const plain = (address: string) => ({ name: '', address });

/** Answers of mail servers name recipients, so only their codes are reported. */
const failureOf = (error: unknown): MailFailure => {
  const { code = 'unknown', responseCode } = error as { readonly code?: string; readonly responseCode?: number };
  if (responseCode === undefined || code === 'EAUTH' || code === 'ETLS')
    return new MailFailure(
      `The mail server could not be asked (${code}); check its settings, and whether it is up.`,
      true,
    );
  return new MailFailure(`The mail server answered ${responseCode}.`, responseCode < 500);
};
