import { type SolvedInput } from './solved-input';

/** Upper bounds for the bytes of a record, and of each decision in it, besides requests, responses and traces. */
const BESIDE = { record: 64 * 1024, decision: 1_024 } as const;
/** Maximum UTF-8 bytes of a UTF-16 code unit. */
const BYTES_OF_UNIT = 3;

interface Bounds {
  /** Maximum bytes of the request, the response and the trace of one decision together. */
  readonly decisionBytes: number;
  /** Maximum bytes of a message. */
  readonly messageBytes: number;
}

/**
 * The decisions of one record, cut to the bounds. Too large ones lose first their trace, then the longer of request and response, then the
 * other. If all together exceed the message, each has an equal share of it.
 */
export const cutToSize = (
  items: readonly SolvedInput[],
  { decisionBytes, messageBytes }: Bounds,
): readonly SolvedInput[] => {
  const fair = Math.floor((messageBytes - BESIDE.record) / items.length) - BESIDE.decision;
  // Usual case, without measuring.
  if (items.every((item) => mostBytesOf(item) <= Math.min(decisionBytes, fair))) return items;
  const cut = items.map((item) => cutItem(item, decisionBytes));
  const together = cut.reduce((sum, item) => sum + bytesOf(item), 0);
  return together <= fair * items.length ? cut : cut.map((item) => cutItem(item, fair));
};

const mostBytesOf = ({ request, result, pathTrace = '' }: SolvedInput): number =>
  (request.length + result.length + pathTrace.length) * BYTES_OF_UNIT;

const bytesOf = ({ request, result, pathTrace = '' }: SolvedInput): number =>
  Buffer.byteLength(request) + Buffer.byteLength(result) + Buffer.byteLength(pathTrace);

const cutItem = (item: SolvedInput, limit: number): SolvedInput => {
  if (bytesOf(item) <= limit) return item;
  const untraced: SolvedInput = { ...item, pathTrace: undefined, isCut: true };
  if (bytesOf(untraced) <= limit) return untraced;
  const first = item.request.length > item.result.length ? withoutRequest(untraced) : withoutResponse(untraced);
  return bytesOf(first) <= limit ? first : withoutRequest(withoutResponse(first));
};

const withoutRequest = (item: SolvedInput): SolvedInput => ({ ...item, request: 'null' });

const withoutResponse = (item: SolvedInput): SolvedInput => {
  const { error } = item;
  const result =
    error === undefined ? '{}' : JSON.stringify({ error: 'It is too long to be logged.', code: error.code });
  return { ...item, result };
};
