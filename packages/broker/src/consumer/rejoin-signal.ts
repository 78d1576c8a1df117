import { headerText, type MessageHeaders, type ReceivedHeaders } from '@decision/contracts';

/**
 * Members notice a rebalance only at their next heartbeat, and those that noticed first stand still until the last has. A member that joins, leaves
 * or notices therefore writes a signal to every partition of the group's topic; members that read it join again at once. A signal that is lost costs
 * time, nothing else. It is a message without a value that carries two headers, and every reader skips those of other groups.
 */
const GROUP_HEADER = 'rejoin-group';
const SENDER_HEADER = 'rejoin-sender';

/** Headers of the signal to a group (its name on the cluster) from a member. */
export const rejoinSignal = (groupId: string, sender: string): MessageHeaders => ({
  [GROUP_HEADER]: groupId,
  [SENDER_HEADER]: sender,
});

/** Whether a message is a signal, to whichever group. */
export const isRejoinSignal = (headers: ReceivedHeaders): boolean => headers[GROUP_HEADER] !== undefined;

/** Whether a signal is meant for this member: its group's, and not its own. */
export const isRejoinSignalFor = (headers: ReceivedHeaders, groupId: string, self: string): boolean =>
  headerText(headers, GROUP_HEADER) === groupId && headerText(headers, SENDER_HEADER) !== self;
