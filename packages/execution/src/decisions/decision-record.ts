import { errorCodes, type SolutionRequestEnvelope } from '@decision/contracts';
import { LRUCache } from 'lru-cache';
import { type SolvedInput } from './solved-input';

/** Writes a record as JSON text. Requests and responses are JSON already and are inserted unchanged. */
type RecordWriter = (envelope: SolutionRequestEnvelope, items: readonly SolvedInput[], sequence: number) => string;

/** Maximum targets whose text is remembered, since busy clients use the same rules repeatedly. */
const MOST_TARGETS = 1_000;

/** Makes the writer of one process, `name`. It remembers texts that many records share. */
export const createRecordWriter = (name: string): RecordWriter => {
  const producer = `,"producer":${JSON.stringify(name)},"sequence":`;
  const targets = new LRUCache<string, Target>({ max: MOST_TARGETS });
  const isoDate = createIsoDates();
  const textOf = (envelope: SolutionRequestEnvelope): string => {
    const known = targets.get(envelope.versionId);
    if (known !== undefined && isSameTarget(known, envelope)) return known.text;
    const target = targetOf(envelope);
    targets.set(envelope.versionId, target);
    return target.text;
  };
  return (envelope, items, sequence) => {
    const { requester, correlationId, requestId, traceparent, receivedAt, origin } = envelope;
    const id = JSON.stringify(`${requester}:${correlationId}`);
    const traceId = traceIdOf(traceparent);
    const trace = traceId === undefined ? 'null' : `"${traceId}"`;
    const times = `,"request_id":${JSON.stringify(requestId)},"trace_id":${trace},"received_at":"${isoDate(receivedAt)}"`;
    const decisions = itemsText(items, origin?.firstIndex ?? 0);
    return `{"v":2,"id":${id}${producer}${sequence}${textOf(envelope)}${times},"items":[${decisions}]}`;
  };
};

/** Target and caller, with their members of a record as JSON text without braces. */
interface Target extends Pick<SolutionRequestEnvelope, 'asset' | 'workspaceId' | 'origin'> {
  readonly text: string;
}

const targetOf = ({ asset, workspaceId, versionId, origin }: SolutionRequestEnvelope): Target => {
  const facts = {
    kind: asset ?? 'rule',
    workspace_id: workspaceId,
    key_id: origin?.keyId ?? '',
    asset_id: origin?.assetId ?? null,
    slug: origin?.slug ?? '',
    selector: origin?.selector ?? '',
    version_id: versionId,
    context: origin?.context ?? null,
    flow: origin?.flow ?? null,
  };
  return { asset, workspaceId, origin, text: `,${JSON.stringify(facts).slice(1, -1)}` };
};

/** Whether the version of a target was selected in the same way. */
const isSameTarget = (target: Target, { asset, workspaceId, origin }: SolutionRequestEnvelope): boolean =>
  target.workspaceId === workspaceId &&
  target.asset === asset &&
  target.origin?.keyId === origin?.keyId &&
  target.origin?.assetId === origin?.assetId &&
  target.origin?.slug === origin?.slug &&
  target.origin?.selector === origin?.selector &&
  target.origin?.context === origin?.context &&
  target.origin?.flow === origin?.flow;

/** Epoch ms of the last valid date: a message may contain a later time. */
const LAST_DATE = 8_640_000_000_000_000;

/** Writes epoch ms like `toISOString`, but formats each second only once for consecutive times of the same second. */
const createIsoDates = (): ((time: number) => string) => {
  let second = NaN;
  let text = '';
  return (given) => {
    const time = Math.min(given, LAST_DATE);
    const of = Math.floor(time / 1_000);
    if (of !== second) {
      text = new Date(time).toISOString().slice(0, -'000Z'.length);
      second = of;
    }
    return `${text}${String(time - of * 1_000).padStart(3, '0')}Z`;
  };
};

const itemsText = (items: readonly SolvedInput[], firstIndex: number): string => {
  const [only] = items;
  if (only !== undefined && items.length === 1) return itemText(only, firstIndex);
  let text = '';
  for (let offset = 0; offset < items.length; offset += 1) {
    const item = items[offset];
    if (item !== undefined)
      text += offset === 0 ? itemText(item, firstIndex) : `,${itemText(item, firstIndex + offset)}`;
  }
  return text;
};

/** Whether an input was solved and has no more to say, as most of them. */
const isPlain = ({ error, executionId, instance, pathTrace, standsFor, isCut }: SolvedInput): boolean =>
  error === undefined &&
  executionId === undefined &&
  instance === undefined &&
  pathTrace === undefined &&
  standsFor === undefined &&
  isCut === undefined;

/** Written by hand, since this is most of a worker's work for an input of a large request. */
const itemText = (item: SolvedInput, index: number): string => {
  const { request, result, error, matched, durationUs, executionId, instance, pathTrace, standsFor = 1, isCut } = item;
  const rows = matched.length === 1 ? String(matched[0]) : matched.join(',');
  if (isPlain(item)) {
    return `{"index":${index},"status":200,"duration_us":${Math.round(durationUs)},"matched":[${rows}],"request":${request},"response":${result}}`;
  }
  const status = error === undefined ? '200' : `${errorCodes[error.code].status},"code":"${error.code}"`;
  const ran = executionId === undefined ? '' : `"execution_id":"${executionId}",`;
  const named = instance === undefined ? ran : `${ran}"instance":${JSON.stringify(instance)},`;
  const path = `${pathTrace === undefined ? '' : `${pathTrace},`}${standsFor === 1 ? '' : `"stands_for":${standsFor},`}${isCut === true ? '"abbreviated":true,' : ''}`;
  return `{"index":${index},${named}"status":${status},"duration_us":${Math.round(durationUs)},"matched":[${rows}],${path}"request":${request},"response":${result}}`;
};

const TRACE_ID = /^[0-9a-f]{2}-([0-9a-f]{32})-/;
const traceIdOf = (traceparent: string | undefined): string | undefined => TRACE_ID.exec(traceparent ?? '')?.[1];
