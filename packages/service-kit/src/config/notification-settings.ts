import { allowedHosts } from './allowed-hosts';
import { oneOf, optional, port, secret, text, wholeNumber } from './setting';

const MAIL_ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,253}$/;

/** Notifications of flows, and the operator's mail server. */
export const notificationSettings = {
  flowNotificationAllowedHosts: allowedHosts('FLOW_NOTIFICATION_ALLOWED_HOSTS', 'notification'),
  flowNotificationMaxWaiting: wholeNumber('FLOW_NOTIFICATION_MAX_WAITING', {
    default: 10_000,
    min: 1,
    max: 1_000_000,
    meaning:
      'Notifications of one workspace that may wait to be sent; beyond them its nodes of type notification fail.',
  }),
  flowNotificationMaxPerRequest: wholeNumber('FLOW_NOTIFICATION_MAX_PER_REQUEST', {
    default: 1_000,
    min: 1,
    max: 100_000,
    meaning:
      'Notifications that the flows of one request may ask for, in each process that runs a part of it; beyond them its nodes of type notification fail.',
  }),
  flowNotificationAttempts: wholeNumber('FLOW_NOTIFICATION_ATTEMPTS', {
    default: 12,
    min: 1,
    max: 100,
    meaning:
      'Attempts to send a notification before it is given up. Pauses double from 5 s to an hour, so that 12 take about two hours.',
  }),
  flowNotificationSigningKeys: optional(
    secret('FLOW_NOTIFICATION_SIGNING_KEYS', {
      meaning:
        'Keys that sign webhooks, as `name=key,name=key`, each of at least 16 characters without commas. A channel names one as `secret`; the one named `default` signs all others. Without it nothing is signed.',
    }),
  ),
  flowNotificationSmtpHost: optional(
    text('FLOW_NOTIFICATION_SMTP_HOST', {
      pattern: /^[A-Za-z0-9.:-]{1,253}$/,
      accepts: 'a host name or address',
      meaning: 'The mail server that takes the mails of notifications; without it channels of type email fail.',
    }),
  ),
  flowNotificationSmtpPort: {
    ...port('FLOW_NOTIFICATION_SMTP_PORT', 587),
    meaning: 'Its TCP port.',
  },
  flowNotificationSmtpTls: oneOf('FLOW_NOTIFICATION_SMTP_TLS', ['starttls', 'implicit', 'none'], {
    default: 'starttls',
    meaning:
      'How the connection to it is protected: by STARTTLS, which is then required, from the first byte on, or not at all.',
  }),
  flowNotificationSmtpUser: optional(
    text('FLOW_NOTIFICATION_SMTP_USER', { meaning: 'User name at the mail server; without it none is told.' }),
  ),
  flowNotificationSmtpPassword: optional(
    secret('FLOW_NOTIFICATION_SMTP_PASSWORD', { meaning: 'Password of that user.' }),
  ),
  flowNotificationSmtpPasswordFile: optional(
    text('FLOW_NOTIFICATION_SMTP_PASSWORD_FILE', {
      meaning: 'File that holds the password instead; the line break at its end is left out.',
    }),
  ),
  flowNotificationSmtpFrom: optional(
    text('FLOW_NOTIFICATION_SMTP_FROM', {
      pattern: MAIL_ADDRESS,
      accepts: 'a plain mail address',
      meaning:
        'Address that mails come from; required with FLOW_NOTIFICATION_SMTP_HOST. A channel may name another one of the same domain.',
    }),
  ),
};
