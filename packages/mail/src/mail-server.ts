import { readFileSync } from 'node:fs';
import { type Config, type smtpSettings, StartRefusal } from '@decision/service-kit';

/** The operator's mail server. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** `starttls`: required; `implicit`: TLS from the first byte; `none`: no TLS. */
  readonly tls: 'starttls' | 'implicit' | 'none';
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** Plain sender address. */
  readonly from: string;
  /** Certificates of authorities that are trusted, PEM. Default: those of the runtime. */
  readonly ca?: string | undefined;
}

/**
 * The mail server of settings whose variables begin with `prefix`; undefined if no host is set. Throws {@link StartRefusal} for incomplete
 * settings.
 */
export const mailServerOf = (
  prefix: string,
  { host, port, tls, user, password, passwordFile, from }: Config<ReturnType<typeof smtpSettings>>,
): MailServer | undefined => {
  if (host === undefined) return undefined;
  if (from === undefined)
    throw new StartRefusal(`${prefix}_FROM is not set; mails need an address that they come from.`);
  const text = passwordFile === undefined ? password?.reveal() : readPassword(prefix, passwordFile);
  return { host, port, tls, from, user, password: text };
};

const readPassword = (prefix: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new StartRefusal(`${prefix}_PASSWORD_FILE cannot be read (${code}).`);
  }
};
