import {
  headerText,
  type ReceivedHeaders,
  requiredCount,
  requiredHeader,
  type SolutionRequestEnvelope,
} from '@decision/contracts';

/** The fields of a request that its answer needs. */
export type ReplyAddress = Pick<SolutionRequestEnvelope, 'correlationId' | 'requester' | 'replyPartition' | 'deadline'>;

/** The address in an envelope that is otherwise unreadable; undefined where there is none. A deadline that cannot be read is the one given. */
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
