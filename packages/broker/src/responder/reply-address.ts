import {
  headerText,
  type ReceivedHeaders,
  requiredCount,
  requiredHeader,
  type SolutionRequestEnvelope,
} from '@decision/contracts';

/** The fields of a request that are needed for its answer. */
export type ReplyAddress = Pick<SolutionRequestEnvelope, 'correlationId' | 'requester' | 'replyPartition' | 'deadline'>;

/** The address in an otherwise unreadable envelope; undefined if there is none. An unreadable deadline is replaced by the given one. */
export const readReplyAddress = (headers: ReceivedHeaders, otherwiseDeadline: number): ReplyAddress | undefined => {
  try {
    const deadline = Number(headerText(headers, 'deadline'));
    return {
      correlationId: requiredHeader(headers, 'correlation-id'),
      requester: requiredHeader(headers, 'requester'),
      replyPartition: requiredCount(headers, 'reply-partition'),
      deadline:
        Number.isSafeInteger(deadline) && deadline > 0 ? Math.min(deadline, otherwiseDeadline) : otherwiseDeadline,
    };
  } catch {
    return undefined;
  }
};
