import {
  type AssetKind,
  checkDecisionLog,
  type DecisionLog,
  type ErrorCode,
  errorCodes,
  parseJson,
} from '@decision/contracts';

/** One decision, as it is kept. */
export interface DecisionRecord {
  /** Name of the message that told of it; with `item` it names the decision, also when the message is written again. */
  readonly messageId: string;
  /** Position in the request, from 0. */
  readonly item: number;
  /** Whether it is one of a list that was sent as one request, perhaps in several messages. */
  readonly isOfList: boolean;
  /** A UUID. */
  readonly workspaceId: string;
  /** Arrival of the request, ISO 8601 UTC with milliseconds. */
  readonly decidedAt: string;
  readonly kind: AssetKind;
  readonly slug: string;
  readonly selector: string;
  readonly versionId: string;
  readonly keyId: string;
  readonly requestId: string;
  /** 32 hex digits. */
  readonly traceId: string | null;
  /** Name of the run, 32 hex digits; null for what was not run within an operation on an instance. */
  readonly executionId: string | null;
  /** HTTP status of this input. */
  readonly status: number;
  /** Null where it was solved. */
  readonly errorCode: string | null;
  readonly durationUs: number;
  /** Rows of the rule that made the response, from 0. */
  readonly matched: readonly number[];
  /** What became of the nodes of a flow, JSON text; null for a rule. */
  readonly pathTrace: string | null;
  /** JSON text, as is the response. */
  readonly request: string;
  readonly response: string;
  readonly worker: string;
  /** Whether characters that the database cannot hold were replaced by U+FFFD. */
  readonly isAltered: boolean;
}

/** Why a message, or a part of it, is set apart. Names are stored and label a metric: never rename one. */
type SetApartReason =
  'not_text' | 'not_json' | 'unknown_shape' | 'too_deep' | 'unstorable_name' | 'altered' | 'refused' | 'future';

/** What a message holds: records, and why the message is set apart, if it is. `altered`: it is set apart beside its records. */
interface ReadMessage {
  readonly records: readonly DecisionRecord[];
  readonly reason: SetApartReason | undefined;
  /** A sentence about the reason. */
  readonly detail: string;
}

const setApart = (reason: SetApartReason, detail: string): ReadMessage => ({ records: [], reason, detail });

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a message of `logs`. Never throws. `isOfList` says whether it is a part of a list, where its sender said so; else several items, or one
 * that is not the first, make a list.
 */
export const readMessage = (value: Uint8Array | null, isOfList: boolean): ReadMessage => {
  try {
    return readText(value, isOfList);
  } catch (error) {
    // The stack has come to its end.
    if (!(error instanceof RangeError)) throw error;
    return setApart('too_deep', 'A request, response or trace nests too deeply to be written again.');
  }
};

const readText = (value: Uint8Array | null, isOfList: boolean): ReadMessage => {
  let text: string;
  try {
    text = decoder.decode(value ?? new Uint8Array());
  } catch {
    return setApart('not_text', 'The message is not UTF-8.');
  }
  const parsed = parseJson(text);
  if (!parsed.ok) return setApart('not_json', `At character ${parsed.problem.position}: ${parsed.problem.reason}.`);
  const checked = checkDecisionLog(parsed.value);
  if (!checked.ok) {
    const [first] = checked.problems;
    return setApart('unknown_shape', `At "${first?.path ?? ''}": ${first?.message ?? 'not a decision log'}.`);
  }
  return readLog(checked.value, isOfList);
};

/** Characters of a name at most; indexes hold names. */
const LONGEST_NAME = 512;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** U+0000, or half a character. */
const UNSTORABLE_CHARACTER = /\0|\p{Surrogate}/u;
const namesOf = ({ id, key_id, slug, selector, version_id, request_id, worker }: DecisionLog) =>
  Object.entries({ id, key_id, slug, selector, version_id, request_id, worker });

const readLog = (log: DecisionLog, isOfList: boolean): ReadMessage => {
  if (!UUID.test(log.workspace_id)) return setApart('unstorable_name', '"workspace_id" is no UUID.');
  const wrong = namesOf(log).find(([, name]) => name.length > LONGEST_NAME || UNSTORABLE_CHARACTER.test(name));
  if (wrong !== undefined)
    return setApart(
      'unstorable_name',
      `"${wrong[0]}" has more than ${LONGEST_NAME} characters, or holds one that cannot be stored.`,
    );
  const seemsList = log.items.length > 1 || log.items[0]?.index !== 0;
  const records = log.items.map((item) => recordOf(log, item, isOfList || seemsList));
  if (!records.some(({ isAltered }) => isAltered)) return { records, reason: undefined, detail: '' };
  return { records, reason: 'altered', detail: 'U+0000 or a lone surrogate was replaced by U+FFFD in what is stored.' };
};

const recordOf = (log: DecisionLog, item: DecisionLog['items'][number], isOfList: boolean): DecisionRecord => {
  const request = jsonText(item.request);
  const response = jsonText(item.response);
  const pathTrace = item.path_trace === undefined ? undefined : jsonText(item.path_trace);
  const executionId = item.execution_id ?? null;
  return {
    messageId: log.id,
    item: item.index,
    // Runs within operations on instances share a message, and are no list.
    isOfList: isOfList && executionId === null,
    workspaceId: log.workspace_id.toLowerCase(),
    decidedAt: new Date(log.received_at).toISOString(),
    kind: log.kind,
    slug: log.slug,
    selector: log.selector,
    versionId: log.version_id,
    keyId: log.key_id,
    requestId: log.request_id,
    traceId: log.trace_id,
    executionId,
    status: statusOf(item),
    errorCode: item.status === 'success' ? null : (item.code ?? 'internal_error').replaceAll('\0', ''),
    durationUs: item.duration_us,
    matched: item.matched,
    pathTrace: pathTrace?.text ?? null,
    request: request.text,
    response: response.text,
    worker: log.worker,
    isAltered: request.isAltered || response.isAltered || pathTrace?.isAltered === true,
  };
};

const SUCCESS = 200;
const FAULT = 500;

const statusOf = ({ status, code }: DecisionLog['items'][number]): number => {
  if (status === 'success') return SUCCESS;
  return code !== undefined && Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].status : FAULT; // its own key
};

/** Escapes that no database text holds: U+0000 and half a character. Whatever else is half a character is escaped by `stringify` too. */
const UNSTORABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;
const MAYBE_UNSTORABLE = /\\u(?:0000|d[89a-f])/;

const jsonText = (value: unknown): { readonly text: string; readonly isAltered: boolean } => {
  const text = JSON.stringify(value);
  if (!MAYBE_UNSTORABLE.test(text)) return { text, isAltered: false };
  const storable = text.replace(UNSTORABLE, '$1\ufffd');
  return { text: storable, isAltered: storable !== text };
};
