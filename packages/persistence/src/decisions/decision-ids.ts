import { hash } from 'node:crypto';
import { type DecisionRecord } from '@decision/decision-logs';

/** Digits of an id that encode the arrival of the request. */
const TIME_DIGITS = 12;

/**
 * Id of a decision; all items of a list in one request share it. It starts with the milliseconds of the request's arrival, and the rest
 * follows from the name of the message, or of the list: it is the same for every delivery of the decision. A UUID of version 8.
 */
export const decisionIdOf = (record: DecisionRecord): string => {
  const digits = hash('sha256', nameOf(record)).slice(0, 18);
  const time = Date.parse(record.decidedAt).toString(16).padStart(TIME_DIGITS, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-8${digits.slice(0, 3)}-a${digits.slice(3, 6)}-${digits.slice(6)}`;
};

const nameOf = ({ messageId, item, isOfList, requestId, kind, versionId }: DecisionRecord): string => {
  if (!isOfList) return JSON.stringify([messageId, item]);
  // The chunks of a list come from one process. A client may choose the same id for several requests.
  return JSON.stringify([messageId.slice(0, messageId.lastIndexOf(':')), requestId, kind, versionId]);
};
