import { hash } from 'node:crypto';
import { type DecisionRecord } from '@decision/decision-logs';
import { type FieldMask, type FieldPath, type SinkFilter } from './sink-settings';

/** Fields with JSON of any shape. */
const documentFields = ['request', 'response', 'path_trace'] as const;
type DocumentField = (typeof documentFields)[number];

/** Fields of a record sent to sinks, in order. */
export const recordFields: readonly string[] = [
  ...['id', 'timestamp', 'decision_id', 'item', 'of_list', 'workspace_id', 'type', 'asset_id', 'name', 'selector'],
  ...[
    'version_id',
    'context',
    'instance',
    'flow',
    'key_id',
    'request_id',
    'trace_id',
    'execution_id',
    'status',
    'error',
  ],
  ...['duration_ms', 'matched', 'stands_for', 'worker', 'abbreviated', ...documentFields],
];

/** Whether a field contains JSON of any shape. */
export const areDocuments = (field: string): field is DocumentField => documentFields.some((known) => known === field);

/** One decision as it is sent to a sink. */
export interface SinkRecord {
  /** Unique, and the same whenever the decision is sent again. */
  readonly id: string;
  /** The same for all items of a list: the id for `GET /decisions/{id}`. */
  readonly decisionId: string;
  /** ISO 8601 UTC. */
  readonly timestamp: string;
  /** The fields that are sent besides the documents, including `id` and `timestamp`. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** JSON texts. */
  readonly documents: Readonly<Partial<Record<DocumentField, string>>>;
  /** When its message was written, epoch ms. */
  readonly writtenAt: number;
}

/** Whether a decision is sent to a sink. A sample takes all decisions of a request or none. */
export const passes = ({ assets, workspaces, statuses, sampleRate }: SinkFilter, record: DecisionRecord): boolean => {
  const { kind, slug, workspaceId, status, requestId } = record;
  if (assets !== undefined && !assets.some((asset) => asset.slug === slug && (asset.kind ?? kind) === kind))
    return false;
  if (workspaces !== undefined && !workspaces.has(workspaceId)) return false;
  if (statuses !== undefined && !statuses.some(([first, last]) => status >= first && status <= last)) return false;
  return sampleRate === 1 || positionOf(requestId) < sampleRate;
};

const HEX_DIGITS = 12;

/** A number in [0, 1) derived from a text. */
const positionOf = (text: string): number =>
  Number.parseInt(hash('sha256', text).slice(0, HEX_DIGITS), 16) / 16 ** HEX_DIGITS;

/** The whole record as one JSON object. */
export const jsonOf = ({ facts, documents }: SinkRecord): string => {
  const members = Object.entries(documents).map(([field, text]) => `,${JSON.stringify(field)}:${text}`);
  return `${JSON.stringify(facts).slice(0, -1)}${members.join('')}}`;
};

/** Approximate characters of the facts. */
const FACTS_SIZE = 800;

/** Approximate size of a record, bytes. */
export const sizeOf = ({ documents }: SinkRecord): number =>
  Object.values(documents).reduce((sum, text) => sum + text.length, FACTS_SIZE);

/** Makes records of decisions. `decisionIdOf` gives the id by which the collector's answers identify a decision. */
export const toSinkRecord = (
  record: DecisionRecord,
  { fields, decisionIdOf, writtenAt }: RecordOptions,
): SinkRecord => {
  const decisionId = decisionIdOf(record);
  const id = `${decisionId}.${record.item}`;
  const { documents, isCut } = maskedDocuments(record, fields);
  const facts = factsOf(record, { id, decisionId, isCut });
  return {
    ...{ id, decisionId, timestamp: record.decidedAt, documents, writtenAt },
    facts: Object.fromEntries(Object.entries(facts).filter(([field]) => isSent(field, fields))),
  };
};

interface RecordOptions {
  readonly fields: FieldMask;
  readonly decisionIdOf: (record: DecisionRecord) => string;
  readonly writtenAt: number;
}

const factsOf = (record: DecisionRecord, made: { readonly id: string; decisionId: string; isCut: boolean }) => ({
  id: made.id,
  timestamp: record.decidedAt,
  decision_id: made.decisionId,
  item: record.item,
  of_list: record.isOfList,
  workspace_id: record.workspaceId,
  type: record.kind,
  asset_id: record.assetId,
  name: record.slug,
  selector: record.selector,
  version_id: record.versionId,
  context: record.contextSlug,
  instance: record.instance,
  flow: record.flowSlug,
  key_id: record.keyId,
  request_id: record.requestId,
  trace_id: record.traceId,
  execution_id: record.executionId,
  status: record.status,
  error: record.errorCode,
  duration_ms: record.durationUs / 1_000,
  matched: record.matched,
  stands_for: record.standsFor,
  worker: record.worker,
  abbreviated: record.isAltered || record.isCut || made.isCut,
});

const isSent = (field: string, { only, without }: FieldMask): boolean => {
  if (field === 'id' || field === 'timestamp') return true;
  if (without.some((path) => path.length === 1 && path[0] === field)) return false;
  return only === undefined || only.some(([first]) => first === field);
};

/** The documents as they are sent. A trace repeats values of request and response, so it is removed if any part of these is. */
const maskedDocuments = ({ request, response, pathTrace }: DecisionRecord, fields: FieldMask) => {
  const documents: Partial<Record<DocumentField, string>> = {};
  const isPartial = hasPartsOf('request', fields) || hasPartsOf('response', fields);
  let isCut = false;
  for (const [field, text] of Object.entries({ request, response, path_trace: isPartial ? null : pathTrace })) {
    if (text === null || !areDocuments(field) || !isSent(field, fields)) continue;
    const masked = maskedText(text, below(field, fields));
    if (masked === undefined) isCut = true;
    else documents[field] = masked;
  }
  return { documents, isCut };
};

/** The paths that begin with a field. `only` is undefined if the whole field is among them. */
const below = (field: string, { only, without }: FieldMask): FieldMask => {
  const kept = only === undefined ? undefined : through(field, only, 0);
  return { only: kept !== undefined && endAt(kept, 1) ? undefined : kept, without: through(field, without, 0) };
};

/** The paths that have a name at a depth. */
const through = (name: string, paths: readonly FieldPath[], depth: number): readonly FieldPath[] =>
  paths.filter((path) => path[depth] === name);

/** Whether a path has no further names below a depth. */
const endAt = (paths: readonly FieldPath[], depth: number): boolean => paths.some((path) => path.length === depth);

const hasPartsOf = (field: string, fields: FieldMask): boolean => {
  const { only, without } = below(field, fields);
  return only !== undefined || without.length > 0;
};

/** Undefined if it nests too deeply to be masked: then it is not sent. */
const maskedText = (text: string, { only, without }: FieldMask): string | undefined => {
  if (only === undefined && without.length === 0) return text;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(dropped(only === undefined ? value : kept(value, only, 1), without, 1));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Keeps the values at the paths, and the objects and lists around them; scalars have nothing below them. `depth` is that of the value. */
const kept = (value: unknown, paths: readonly FieldPath[], depth: number): unknown => {
  if (endAt(paths, depth)) return value;
  if (Array.isArray(value)) return value.map((item) => kept(item, paths, depth));
  if (!isObject(value)) return null;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const inside = through(name, paths, depth);
      return inside.length === 0 ? [] : [[name, kept(member, inside, depth + 1)]];
    }),
  );
};

const dropped = (value: unknown, paths: readonly FieldPath[], depth: number): unknown => {
  if (paths.length === 0) return value;
  if (Array.isArray(value)) return value.map((item) => dropped(item, paths, depth));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const inside = through(name, paths, depth);
      return endAt(inside, depth + 1) ? [] : [[name, dropped(member, inside, depth + 1)]];
    }),
  );
};
