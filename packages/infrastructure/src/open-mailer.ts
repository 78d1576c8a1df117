import { createMailer, type Mailer, mailServerOf } from '@decision/mail';
import { type Config, type mailSettings, type Stopper } from '@decision/service-kit';

/** Opens the mail server for mails to people; undefined if SMTP_HOST is not set. Throws `StartRefusal` if its settings are incomplete. */
export const openMailer = (config: Config<typeof mailSettings>, stopper: Pick<Stopper, 'add'>): Mailer | undefined => {
  const server = mailServerOf('SMTP', {
    ...{ host: config.smtpHost, port: config.smtpPort, tls: config.smtpTls, user: config.smtpUser },
    ...{ password: config.smtpPassword, passwordFile: config.smtpPasswordFile, from: config.smtpFrom },
  });
  if (server === undefined) return undefined;
  const mailer = createMailer(server);
  stopper.add('mail', () => {
    mailer.stop();
    return Promise.resolve();
  });
  return mailer;
};
