import { type BatchInclude, batchIncludes } from '@decision/contracts';
import { type ContextModel } from '../definitions/context-model';
import { kindOfValue } from '../facts/fact-type';
import { type Facts, valueOf } from '../facts/facts';
import { readIdentity } from '../facts/instance-id';
import {
  checkRecord,
  type Collections,
  isRecord,
  type Mismatch,
  MOST_MISMATCHES,
  NearFacts,
  sentenceOf,
} from '../instances/check-record';

/** The records of one instance in a batch, folded in their order (C92). */
export interface GivenInstance {
  readonly instanceId: string;
  /** Positions of its records in the batch. */
  readonly positions: readonly number[];
  readonly facts: Facts;
  /** Ignored facts of its records, as far as they are listed. */
  readonly ignored: readonly Mismatch[];
  /** Number of ignored facts, listed or not. */
  readonly ignoredCount: number;
}

/** A record that cannot be merged (C90). */
export interface Rejection {
  readonly position: number;
  readonly error: string;
}

interface GroupedRecords {
  /** In the order in which the batch first names them (C91). */
  readonly instances: readonly GivenInstance[];
  /** In batch order, as many as fit. */
  readonly rejections: readonly Rejection[];
  /** Records that cannot be merged, listed or not. */
  readonly rejected: number;
  /** Ignored facts of all records. */
  readonly ignored: number;
}

/** Takes the place of a record that could not be parsed. */
export class UnreadableRecord {
  /** `error` is the reason of its rejection. */
  constructor(readonly error: string) {}
}

/**
 * Approximate bound of the rejections in one answer, bytes of JSON: enough for about 100,000 short ones. The answer to a list of three
 * million zeros must not be forty times its size (C90). An answer in lines has no such list, and reports all of them.
 */
export const REJECTION_BYTES = 8 * 1024 * 1024;
/** Bytes of an entry without its reason: `{"position":1000000,"error":""},`. */
const ENTRY_BYTES = 32;

/** Rejections in batch order: listed as long as they fit, and counted. */
export class RejectionList {
  readonly listed: Rejection[] = [];
  private seen = 0;

  constructor(private bytesLeft: number = REJECTION_BYTES) {}

  /** Number of all rejections, listed or not. */
  get count(): number {
    return this.seen;
  }

  add(rejection: Rejection): void {
    this.seen += 1;
    const size = ENTRY_BYTES + rejection.error.length;
    // After the first that does not fit none is listed, so that only a tail is omitted.
    if (size > this.bytesLeft) this.bytesLeft = 0;
    else {
      this.bytesLeft -= size;
      this.listed.push(rejection);
    }
  }
}

/** Maximum of ignored facts that all entries of one answer, or of one chunk of lines, list together. Each entry counts its own. */
const MOST_IGNORED = 1_000;

interface GroupOptions {
  /** The position of the first record in the whole batch. Default 0. */
  readonly firstPosition?: number;
  /** Bound of the list of rejections, bytes. Default {@link REJECTION_BYTES}. */
  readonly rejectionBytes?: number;
}

/** Groups records into instances. */
export const groupRecords = (
  model: ContextModel,
  records: readonly unknown[],
  collections: Collections,
  { firstPosition = 0, rejectionBytes = REJECTION_BYTES }: GroupOptions = {},
): GroupedRecords => {
  const instances = new Map<string, Gathered>();
  const near = new NearFacts(model);
  const rejections = new RejectionList(rejectionBytes);
  let ignored = 0;
  let listed = 0;
  records.forEach((record, index) => {
    const position = firstPosition + index;
    const read = readRecord(model, record, collections, near);
    if ('error' in read) {
      rejections.add({ position, error: read.error });
      return;
    }
    const given = instances.get(read.instanceId) ?? newGathered();
    given.positions.push(position);
    for (const [fact, value] of Object.entries(read.facts)) given.facts.set(fact, value);
    const shown = read.ignored.slice(0, Math.min(MOST_MISMATCHES - given.ignored.length, MOST_IGNORED - listed));
    given.ignored.push(...shown);
    listed += shown.length;
    given.ignoredCount += read.ignoredCount;
    ignored += read.ignoredCount;
    instances.set(read.instanceId, given);
  });
  return {
    instances: [...instances].map(([instanceId, { facts, ...rest }]) => ({
      instanceId,
      ...rest,
      facts: Object.fromEntries(facts),
    })),
    rejections: rejections.listed,
    rejected: rejections.count,
    ignored,
  };
};

/** Records of one instance so far. */
interface Gathered {
  readonly positions: number[];
  readonly facts: Map<string, unknown>;
  readonly ignored: Mismatch[];
  ignoredCount: number;
}

const newGathered = (): Gathered => ({ positions: [], facts: new Map(), ignored: [], ignoredCount: 0 });

type RecordReading = Omit<GivenInstance, 'positions'> | { readonly error: string };

const readRecord = (model: ContextModel, record: unknown, collections: Collections, near: NearFacts): RecordReading => {
  if (record instanceof UnreadableRecord) return record;
  if (!isRecord(record)) return { error: `The record must be an object of facts, not ${kindOfValue(record)}.` };
  const identity = readIdentity(model.identity, valueOf(record, model.identity.key));
  if (!identity.ok) return { error: `The record cannot be merged: ${identity.error}.` };
  const check = checkRecord(model, record, collections, near);
  if (!check.ok) return { error: sentenceOf(check.mismatches, check.count) };
  const { facts, ignored, ignoredCount } = check;
  return { instanceId: identity.instanceId, facts, ignored, ignoredCount };
};

type IncludeReading =
  | { readonly ok: true; readonly fields: ReadonlySet<BatchInclude> }
  /** Names that are unknown. */
  | { readonly ok: false; readonly unknown: readonly string[] };

/** Without `include` a result has everything except fields that must be requested by name. */
const USUAL: ReadonlySet<BatchInclude> = new Set(
  batchIncludes.filter((field) => field !== 'executions' && field !== 'execution_results'),
);

/** Reads the parameter `include` (C82): names of fields, separated by commas. */
export const readInclude = (text: string | undefined): IncludeReading => {
  if (text === undefined) return { ok: true, fields: USUAL };
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const known = batchIncludes.filter((field) => names.includes(field));
  const unknown = names.filter((name) => name !== 'instance_id' && !known.some((field) => field === name));
  return unknown.length > 0 ? { ok: false, unknown: [...new Set(unknown)] } : { ok: true, fields: new Set(known) };
};
