import { LRUCache } from 'lru-cache';
import { type Connector, type ConnectorCall, ConnectorFailure } from '../connector';
import { type ChannelSettings, notificationsOf } from './messages';

/** Counts the notifications that wait to be sent. */
export interface Outbox {
  /** How many notifications of a workspace wait; `most` stands for that many or more. Rejects if the database does not answer. */
  countWaiting(workspaceId: string, most: number): Promise<number>;
}

interface NotificationOptions extends ChannelSettings {
  readonly outbox: Outbox;
  /** Per workspace; beyond it nodes fail. */
  readonly maxWaiting: number;
  /** Notifications that the flows of one request may send in this process; beyond it nodes fail. */
  readonly maxPerRequest: number;
}

const TIME_MS = 10_000;
/** How long a count of the outbox is reused, ms. */
const COUNTED_MS = 1_000;
const MAX_WORKSPACES = 10_000;
/** Requests whose notifications are counted at once. */
const MAX_REQUESTS = 10_000;

/** Nodes of type `notification`: they hand notifications to the run. They are sent once the run has ended and they are stored. */
export const createNotificationConnector = ({
  outbox,
  maxWaiting,
  maxPerRequest,
  ...settings
}: NotificationOptions): Connector => {
  const counted = new LRUCache<string, number>({ max: MAX_WORKSPACES, ttl: COUNTED_MS });
  const requireRoom = async (workspaceId: string): Promise<void> => {
    let waiting = counted.get(workspaceId);
    if (waiting === undefined) {
      waiting = await outbox.countWaiting(workspaceId, maxWaiting).catch(cannotBeStored);
      counted.set(workspaceId, waiting);
    }
    if (waiting >= maxWaiting)
      throw new ConnectorFailure(
        `${maxWaiting} notifications of the workspace wait to be sent, which is the limit (FLOW_NOTIFICATION_MAX_WAITING); try again later.`,
        { outcome: 'busy', mayRetry: true },
      );
  };
  const asked = new LRUCache<string, number>({ max: MAX_REQUESTS });
  const countForRequest = ({ workspaceId, requestId, deadline }: ConnectorCall, more: number): void => {
    const request = `${workspaceId} ${requestId}`;
    const count = (asked.get(request) ?? 0) + more;
    if (count > maxPerRequest)
      throw new ConnectorFailure(
        `The flows of this request send more than ${maxPerRequest} notifications, which is the limit (FLOW_NOTIFICATION_MAX_PER_REQUEST); gather them in fewer, or send fewer inputs at once.`,
        { outcome: 'refused', details: { reason: 'too_many_notifications', limit: maxPerRequest } },
      );
    asked.set(request, count, { ttl: Math.max(1, deadline - Date.now()) });
  };
  return {
    type: 'notification',
    timeoutMs: TIME_MS,
    isRepeatable: () => true,
    run: async (call) => {
      // Connections from a vault never lead here (FL-9).
      if (call.secrets.length > 0)
        throw new ConnectorFailure('A notification takes no secret of a vault.', { outcome: 'invalid' });
      const notifications = notificationsOf(call, settings);
      await requireRoom(call.workspaceId);
      countForRequest(call, notifications.length);
      call.notify?.(notifications);
      return { notifications: notifications.map(({ id, channel }) => ({ id, channel })) };
    },
  };
};

const cannotBeStored = (): never => {
  throw new ConnectorFailure(
    'The notification cannot be stored, since the database does not answer; send the request again.',
    { mayRetry: true },
  );
};
