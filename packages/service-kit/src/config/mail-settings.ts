import { oneOf, optional, port, secret, text } from './setting';

const MAIL_ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,253}$/;

/** The operator's mail server, from variables that begin with `prefix`. `host` and `from` describe its purpose. */
export const smtpSettings = (prefix: string, meanings: { readonly host: string; readonly from: string }) => ({
  host: optional(
    text(`${prefix}_HOST`, {
      pattern: /^[A-Za-z0-9.:-]{1,253}$/,
      accepts: 'a host name or address',
      meaning: meanings.host,
    }),
  ),
  port: { ...port(`${prefix}_PORT`, 587), meaning: 'Its TCP port.' },
  tls: oneOf(`${prefix}_TLS`, ['starttls', 'implicit', 'none'], {
    default: 'starttls',
    meaning:
      'How the connection to it is protected: by STARTTLS, which is then required, from the first byte on, or not at all.',
  }),
  user: optional(text(`${prefix}_USER`, { meaning: 'User name at the mail server; without it there is no login.' })),
  password: optional(secret(`${prefix}_PASSWORD`, { meaning: 'Password of that user.' })),
  passwordFile: optional(
    text(`${prefix}_PASSWORD_FILE`, {
      meaning: 'File with the password instead; its trailing line break is ignored.',
    }),
  ),
  from: optional(
    text(`${prefix}_FROM`, {
      pattern: MAIL_ADDRESS,
      accepts: 'a plain mail address',
      meaning: `Address that mails come from; required with ${prefix}_HOST.${meanings.from}`,
    }),
  ),
});

const people = smtpSettings('SMTP', {
  host: 'The mail server that takes mails to people: invitations, and links for forgotten passwords. Without it administrators hand links over.',
  from: '',
});

/** The mail server for mails to people. */
export const mailSettings = {
  smtpHost: people.host,
  smtpPort: people.port,
  smtpTls: people.tls,
  smtpUser: people.user,
  smtpPassword: people.password,
  smtpPasswordFile: people.passwordFile,
  smtpFrom: people.from,
};
