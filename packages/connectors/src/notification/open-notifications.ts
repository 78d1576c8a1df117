import { type MailServer, mailServerOf } from '@decision/mail';
import {
  type Config,
  type connectorSettings,
  type Logger,
  type Metrics,
  StartRefusal,
  type Stopper,
} from '@decision/service-kit';
import { createChannels } from './channels';
import { type ChannelSettings } from './messages';
import { type NotificationSender, type NotificationStore, type SendEnd, startNotificationSender } from './sender';

type NotificationConfig = Config<typeof connectorSettings>;

interface Opening {
  readonly config: NotificationConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stopper: Stopper;
}

/** Unsent notifications of all workspaces. */
interface Unsent {
  readonly waiting: number;
  readonly failed: number;
  /** Age of the oldest waiting one, ms; 0 if none waits. */
  readonly oldestAgeMs: number;
}

interface OpenedStore extends NotificationStore {
  count(): Promise<Unsent>;
}

/**
 * The operator's settings for nodes of type notification. Throws {@link StartRefusal} for malformed keys, and for a mail server without a
 * sender address.
 */
export const channelSettings = (config: NotificationConfig): ChannelSettings => ({
  mailFrom: mailServerFor(config)?.from,
  signingKeys: signingKeysOf(config),
});

const MIN_KEY = 16;

const signingKeysOf = ({ flowNotificationSigningKeys }: NotificationConfig): ReadonlyMap<string, string> => {
  const keys = new Map<string, string>();
  for (const entry of flowNotificationSigningKeys?.reveal().split(',') ?? []) {
    const [, name, key] = /^\s*([\w.-]{1,100})=(.*)$/s.exec(entry) ?? [];
    if (name === undefined || key === undefined || key.trim().length < MIN_KEY)
      throw new StartRefusal(
        `FLOW_NOTIFICATION_SIGNING_KEYS must be name=key pairs with commas between them, each key of at least ${MIN_KEY} characters.`,
      );
    keys.set(name, key.trim());
  }
  return keys;
};

const mailServerFor = (config: NotificationConfig): MailServer | undefined =>
  mailServerOf('FLOW_NOTIFICATION_SMTP', {
    ...{ host: config.flowNotificationSmtpHost, port: config.flowNotificationSmtpPort },
    ...{ tls: config.flowNotificationSmtpTls, user: config.flowNotificationSmtpUser },
    ...{ password: config.flowNotificationSmtpPassword, passwordFile: config.flowNotificationSmtpPasswordFile },
    from: config.flowNotificationSmtpFrom,
  });

/** Interval between counts of unsent notifications, for metrics, ms. */
const COUNT_EVERY_MS = 5_000;

/** Sends the notifications of flows as long as the service runs. It is stopped after components that were opened later. */
export const openNotifications = (
  store: OpenedStore,
  { config, logger, metrics, stopper }: Opening,
): NotificationSender => {
  const onError = (error: unknown): void =>
    logger.warn({ err: error }, 'Notifications could not be looked after; they are tried again.');
  const sender = startNotificationSender({
    store,
    channels: createChannels({
      allowedHosts: config.flowNotificationAllowedHosts,
      signingKeys: signingKeysOf(config),
      mailServer: mailServerFor(config),
    }),
    maxAttempts: config.flowNotificationAttempts,
    onEnd: observeEnds(metrics, logger),
    onError,
  });
  const stopCounting = exportUnsent(metrics, store, onError);
  stopper.add('notifications', async (drainMs) => {
    stopCounting();
    await sender.stop(drainMs);
  });
  return sender;
};

const observeEnds = (metrics: Metrics, logger: Logger): ((end: SendEnd) => void) => {
  const ends = metrics.counter({
    name: 'decision_notifications_total',
    help: 'Attempts of this process to send notifications of flows, by channel and outcome: sent, again (it failed and is repeated) or failed (it is given up).',
    labelNames: ['channel', 'outcome'],
  });
  return ({ id, channel, workspaceId, attempt, outcome, reason, refused }) => {
    ends.inc({ channel, outcome });
    const facts = { notification_id: id, channel, workspace_id: workspaceId, attempt };
    if (outcome === 'failed') logger.error({ ...facts, reason }, 'A notification is given up.');
    else if (outcome === 'again')
      logger.warn({ ...facts, reason }, 'A notification could not be sent; it is tried again.');
    else if (refused > 0)
      logger.warn({ ...facts, refused }, 'The mail server refused some recipients of a notification.');
  };
};

const exportUnsent = (metrics: Metrics, store: OpenedStore, onError: (error: unknown) => void): (() => void) => {
  let unsent: Unsent = { waiting: 0, failed: 0, oldestAgeMs: 0 };
  metrics.gauge({
    name: 'decision_notifications',
    help: 'Notifications of all workspaces that are not sent, by state: waiting, or failed (given up).',
    labelNames: ['state'],
    collect() {
      this.set({ state: 'waiting' }, unsent.waiting);
      this.set({ state: 'failed' }, unsent.failed);
    },
  });
  metrics.gauge({
    name: 'decision_notifications_oldest_age_seconds',
    help: 'How long the oldest notification that is not sent has waited; 0 if none waits.',
    collect() {
      this.set(unsent.oldestAgeMs / 1_000);
    },
  });
  let isCounting = false;
  const count = (): void => {
    if (isCounting) return;
    isCounting = true;
    store
      .count()
      .then((counted) => (unsent = counted), onError)
      .finally(() => (isCounting = false));
  };
  const timer = setInterval(count, COUNT_EVERY_MS);
  timer.unref();
  count();
  return () => clearInterval(timer);
};
