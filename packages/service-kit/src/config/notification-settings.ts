import { allowedHosts } from './allowed-hosts';
import { smtpSettings } from './mail-settings';
import { optional, secret, wholeNumber } from './setting';

const smtp = smtpSettings('FLOW_NOTIFICATION_SMTP', {
  host: 'The mail server that takes the mails of notifications; without it channels of type email fail.',
  from: ' A channel may name another one of the same domain.',
});

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
  flowNotificationSmtpHost: smtp.host,
  flowNotificationSmtpPort: smtp.port,
  flowNotificationSmtpTls: smtp.tls,
  flowNotificationSmtpUser: smtp.user,
  flowNotificationSmtpPassword: smtp.password,
  flowNotificationSmtpPasswordFile: smtp.passwordFile,
  flowNotificationSmtpFrom: smtp.from,
};
