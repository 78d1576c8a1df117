import {
  type AssetKind,
  checkDecisionLog,
  checkDecisionLogV2,
  checkProducerReport,
  type DecisionLog,
  type DecisionLogV2,
  type ErrorCode,
  errorCodes,
  parseJson,
  type ProducerReport,
} from '@decision/contracts';

/** One decision as it is stored. */
export interface DecisionRecord {
  /** Id of its message; with `item` it identifies the decision, also when the message is written again. */
  readonly messageId: string;
  /** Position in the request, from 0. */
  readonly item: number;
  /** Whether it belongs to a list that was sent as one request, perhaps in several messages. */
  readonly isOfList: boolean;
  /** A UUID. */
  readonly workspaceId: string;
  /** Arrival of the request, ISO 8601 UTC with milliseconds. */
  readonly decidedAt: string;
  readonly kind: AssetKind;
  /** Null if the message does not contain it. */
  readonly assetId: string | null;
  readonly slug: string;
  readonly selector: string;
  /** Empty if it was refused before a version was chosen. */
  readonly versionId: string;
  /** Slug of the context and the instance whose operation ran it; null for direct solves. */
  readonly contextSlug: string | null;
  readonly instance: string | null;
  /** Slug of the flow that requested that operation. */
  readonly flowSlug: string | null;
  readonly keyId: string;
  readonly requestId: string;
  /** 32 hex digits. */
  readonly traceId: string | null;
  /** Id of the run, 32 hex digits; null if it did not run within an operation on an instance. */
  readonly executionId: string | null;
  /** HTTP status of this input. */
  readonly status: number;
  /** Null if it was solved. */
  readonly errorCode: string | null;
  readonly durationUs: number;
  /** Positions of the rule's rows that made the response, from 0. */
  readonly matched: readonly number[];
  /** Outcomes of a flow's nodes, JSON text; null for a rule. */
  readonly pathTrace: string | null;
  /** JSON text, as is the response. */
  readonly request: string;
  readonly response: string;
  /** Name of the process that wrote it. */
  readonly worker: string;
  /** Number of requests that it stands for, including its own. */
  readonly standsFor: number;
  /** Whether something was cut from request or response before it was written. */
  readonly isCut: boolean;
  /** Whether characters that the database cannot hold were replaced by U+FFFD. */
  readonly isAltered: boolean;
}

/** Why a message, or a part of it, is set apart. The names are stored and label a metric: never rename one. */
type SetApartReason =
  'not_text' | 'not_json' | 'unknown_shape' | 'too_deep' | 'unstorable_name' | 'altered' | 'refused' | 'future';

/** How many messages a producer has numbered for a workspace. */
export interface ProducerCount {
  readonly workspaceId: string;
  readonly producer: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** The number of a message, from 0; undefined in a report. */
  readonly sequence: number | undefined;
  /** The count of numbered messages so far. */
  readonly next: number;
  /** Whether it reported that it writes no more. */
  readonly ended: boolean;
}

/** Content of a message: its records, and why the message is set apart, if it is. `altered`: it is set apart in addition to its records. */
interface ReadMessage {
  readonly records: readonly DecisionRecord[];
  /** Undefined if the message's version has no numbers. */
  readonly counts: readonly ProducerCount[];
  readonly reason: SetApartReason | undefined;
  /** A sentence about the reason. */
  readonly detail: string;
}

const setApart = (reason: SetApartReason, detail: string): ReadMessage => ({ records: [], counts: [], reason, detail });

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a message of `logs`. Never throws. `isOfList` is the sender's statement whether it is part of a list, if any; otherwise several
 * items, or one that is not the first, make a list.
 */
export const readMessage = (value: Uint8Array | null, isOfList: boolean): ReadMessage => {
  try {
    return readText(value, isOfList);
  } catch (error) {
    // The stack is exhausted.
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
  return readValue(parsed.value, isOfList);
};

const readValue = (value: unknown, isOfList: boolean): ReadMessage => {
  // any value has members, perhaps undefined
  const { v, workspaces } = Object(value) as { readonly v?: unknown; readonly workspaces?: unknown };
  if (v === 2 && workspaces !== undefined) {
    const report = checkProducerReport(value);
    return report.ok ? readReport(report.value) : unknownShape(report.problems);
  }
  const log = v === 2 ? checkDecisionLogV2(value) : asCurrent(checkDecisionLog(value));
  return log.ok ? readLog(log.value, isOfList) : unknownShape(log.problems);
};

const unknownShape = ([first]: readonly { readonly path: string; readonly message: string }[]): ReadMessage =>
  setApart('unknown_shape', `At "${first?.path ?? ''}": ${first?.message ?? 'not a decision log'}.`);

/** A message as this release writes them; those of the previous release have no number. */
type AnyLog = Omit<DecisionLogV2, 'v' | 'sequence'> & { readonly sequence: number | undefined };

const asCurrent = (checked: ReturnType<typeof checkDecisionLog>) => {
  if (!checked.ok) return checked;
  const { items, worker: producer, ...facts } = checked.value;
  const value: AnyLog = {
    ...facts,
    ...{ producer, sequence: undefined, asset_id: null, context: null, flow: null },
    items: items.map((item) => ({ ...item, status: statusOf(item) })),
  };
  return { ok: true as const, value };
};

const SUCCESS = 200;
const FAULT = 500;

const statusOf = ({ status, code }: DecisionLog['items'][number]): number => {
  if (status === 'success') return SUCCESS;
  return code !== undefined && Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].status : FAULT; // its own key
};

/** Maximum characters of a name, since indexes contain names. */
const LONGEST_NAME = 512;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** U+0000, or a lone surrogate. */
const UNSTORABLE_CHARACTER = /\0|\p{Surrogate}/u;

/** Why names cannot be stored; undefined if they can. */
const faultOfNames = (
  workspaces: readonly string[],
  names: Readonly<Record<string, string | null>>,
): ReadMessage | undefined => {
  if (!workspaces.every((id) => UUID.test(id))) return setApart('unstorable_name', '"workspace_id" is not a UUID.');
  const wrong = Object.entries(names).find(
    ([, name]) => name !== null && (name.length > LONGEST_NAME || UNSTORABLE_CHARACTER.test(name)),
  );
  return (
    wrong &&
    setApart(
      'unstorable_name',
      `"${wrong[0]}" has more than ${LONGEST_NAME} characters, or holds one that cannot be stored.`,
    )
  );
};

const readReport = ({ producer, reported_at, ended, workspaces }: ProducerReport): ReadMessage => {
  const ids = workspaces.map(({ workspace_id }) => workspace_id);
  const at = new Date(reported_at).toISOString();
  const counts = workspaces.map(({ workspace_id, next }) => ({
    ...{ workspaceId: workspace_id.toLowerCase(), producer, at, sequence: undefined, next, ended },
  }));
  return faultOfNames(ids, { producer }) ?? { records: [], counts, reason: undefined, detail: '' };
};

const readLog = (log: AnyLog, isOfList: boolean): ReadMessage => {
  const { id, key_id, slug, selector, version_id, context, flow, request_id, producer, sequence } = log;
  const fault = faultOfNames([log.workspace_id], {
    ...{ id, key_id, slug, selector, version_id, context, flow, request_id, producer },
    ...Object.fromEntries(
      log.items.flatMap(({ instance }) =>
        instance === undefined ? [] : [[`instance ${instance.slice(0, 40)}`, instance]],
      ),
    ),
  });
  if (fault !== undefined) return fault;
  const seemsList = log.items.length > 1 || log.items[0]?.index !== 0;
  const records = log.items.map((item) => recordOf(log, item, isOfList || seemsList));
  const at = new Date(log.received_at).toISOString();
  const workspaceId = log.workspace_id.toLowerCase();
  const counts =
    sequence === undefined ? [] : [{ workspaceId, producer, at, sequence, next: sequence + 1, ended: false }];
  if (!records.some(({ isAltered }) => isAltered)) return { records, counts, reason: undefined, detail: '' };
  const detail = 'U+0000 or a lone surrogate was replaced by U+FFFD in what is stored.';
  return { records, counts, reason: 'altered', detail };
};

const recordOf = (log: AnyLog, item: AnyLog['items'][number], isOfList: boolean): DecisionRecord => {
  const request = jsonText(item.request);
  const response = jsonText(item.response);
  const pathTrace = item.path_trace === undefined ? undefined : jsonText(item.path_trace);
  const executionId = item.execution_id ?? null;
  return {
    messageId: log.id,
    item: item.index,
    // Runs within operations on instances share a message, and are not a list.
    isOfList: isOfList && executionId === null,
    workspaceId: log.workspace_id.toLowerCase(),
    decidedAt: new Date(log.received_at).toISOString(),
    kind: log.kind,
    assetId: log.asset_id,
    slug: log.slug,
    selector: log.selector,
    versionId: log.version_id,
    contextSlug: log.context,
    instance: item.instance ?? null,
    flowSlug: log.flow,
    keyId: log.key_id,
    requestId: log.request_id,
    traceId: log.trace_id,
    executionId,
    status: item.status,
    errorCode: item.status < FIRST_FAILURE ? null : (item.code ?? 'internal_error').replaceAll('\0', ''),
    durationUs: item.duration_us,
    matched: item.matched,
    pathTrace: pathTrace?.text ?? null,
    request: request.text,
    response: response.text,
    worker: log.producer,
    standsFor: item.stands_for ?? 1,
    isCut: item.abbreviated === true,
    isAltered: request.isAltered || response.isAltered || pathTrace?.isAltered === true,
  };
};

const FIRST_FAILURE = 400;

/** Escapes that no text in the database can hold: U+0000 and lone surrogates, which `stringify` also escapes. */
const UNSTORABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;
const MAYBE_UNSTORABLE = /\\u(?:0000|d[89a-f])/;

const jsonText = (value: unknown): { readonly text: string; readonly isAltered: boolean } => {
  const text = JSON.stringify(value);
  if (!MAYBE_UNSTORABLE.test(text)) return { text, isAltered: false };
  const storable = text.replace(UNSTORABLE, '$1\ufffd');
  return { text: storable, isAltered: storable !== text };
};
