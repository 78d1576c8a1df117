import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type AssetKind, fixedLimits, JsonScanner, limits, type ScanFault, ServiceError } from '@decision/contracts';
import { inOrder } from '@decision/service-kit';
import { type OpenSolve, type SolveRequest } from './solve';
import { itemTooLarge } from './solve-request';

interface ParallelOptions {
  /** Largest single entry, bytes. */
  readonly itemMaxBytes: number;
  /** Called with the failure of an entry. */
  readonly onFailed?: ((error: ServiceError) => void) | undefined;
}

/** Fields that all entries of a request share. */
type ParallelRequest = Omit<SolveRequest, 'asset' | 'slug' | 'selector'>;

/** Most entries of one request at workers at once. */
const ENTRIES_AT_ONCE = { maxItems: 64, maxWeight: 16 * limits.chunkBytes.max };

/**
 * Solves the named entries of a body in parallel and answers their results under the same names, in the order of the body. A failed entry reports
 * its error in its place and does not affect the others. Throws `ServiceError` for a body that is not an object of entries.
 */
export const solveParallel = async (
  body: Buffer,
  request: ParallelRequest,
  openSolve: OpenSolve,
  limits: ParallelOptions,
): Promise<Buffer> => {
  const members = await readMembers(body);
  const parts: Buffer[] = [];
  const solveOne = (member: Member): Promise<Buffer> => solveEntry(body, member, request, openSolve, limits);
  const weightOf = ({ valueStart, valueEnd }: Member): number => valueEnd - valueStart;
  const results = inOrder(each(members), solveOne, { ...ENTRIES_AT_ONCE, weightOf });
  let index = 0;
  for await (const result of results) {
    const { keyStart, keyEnd } = members[index] ?? { keyStart: 0, keyEnd: 0 };
    parts.push(Buffer.from(index === 0 ? '{' : ',\n'), body.subarray(keyStart, keyEnd), Buffer.from(':'), result);
    index += 1;
  }
  return Buffer.concat([...(index === 0 ? [Buffer.from('{')] : parts), Buffer.from('}')]);
};

// eslint-disable-next-line @typescript-eslint/require-await -- a list as the asynchronous source that a stream also is
async function* each(members: readonly Member[]): AsyncGenerator<Member, void, undefined> {
  yield* members;
}

const readMembers = async (body: Buffer): Promise<readonly Member[]> => {
  if (!isUtf8(body)) throw new ServiceError('invalid_json', 'The body is not UTF-8 text.');
  const found = await findMembers(body, fixedLimits.listDepth);
  if (!found.ok) {
    const { kind, reason, position, line, column } = found.fault;
    if (kind === 'syntax') {
      const sentence = `The body is not JSON: ${reason} at position ${position} (line ${line}, column ${column}).`;
      throw new ServiceError('invalid_json', sentence, { position, line, column });
    }
    throw new ServiceError(
      'invalid_request',
      `The body of a parallel request is an object of named entries: ${reason}.`,
      {
        problems: [{ in: 'body', path: '', message: reason }],
      },
    );
  }
  const { parallelEntries: limit } = fixedLimits;
  if (found.members.length <= limit) return found.members;
  throw new ServiceError(
    'too_many_items',
    `The request has ${found.members.length} entries; at most ${limit} are allowed.`,
    {
      limit_items: limit,
    },
  );
};

const solveEntry = async (
  body: Buffer,
  { keyStart, keyEnd, valueStart, valueEnd }: Member,
  request: ParallelRequest,
  openSolve: OpenSolve,
  { itemMaxBytes, onFailed }: ParallelOptions,
): Promise<Buffer> => {
  try {
    if (valueEnd - valueStart > itemMaxBytes) throw itemTooLarge(undefined, itemMaxBytes);
    const entry = await readEntry(body.subarray(valueStart, valueEnd));
    const { asset, slug, selector } = entry;
    const idempotencyKey = asset === 'flow' ? keyOfEntry(request, textOf(body, keyStart, keyEnd)) : undefined;
    const { evaluate } = await openSolve({ ...request, asset, slug, selector, idempotencyKey });
    return await evaluate('solve', entry.input);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    onFailed?.(error);
    const { message, status, code } = error;
    return Buffer.from(JSON.stringify({ $error: { message, status, code } }));
  }
};

/** Idempotency key of an entry: two entries that run one flow with the same inputs are two pieces of work. */
const keyOfEntry = ({ idempotencyKey, requestId }: ParallelRequest, name: string): string =>
  createHash('sha256')
    .update(JSON.stringify([idempotencyKey ?? requestId, name]))
    .digest('base64url');

/** One entry of a parallel request. */
interface ParallelEntry {
  readonly asset: AssetKind;
  readonly slug: string;
  readonly selector: string;
  /** The input: the entry without the members that name the asset. */
  readonly input: Buffer;
}

const ASSETS = { $rule: 'rule', $flow: 'flow' } as const;
const SPACE = 0x20;
const COMMA = 0x2c;
const QUOTE = 0x22;
/** A longer key cannot be one of ours, even with escapes. */
const MAX_KEY_BYTES = 32;
const REFERENCE = /^([^/]{1,200})(?:\/([^/]{1,200}))?$/;

/**
 * Reads one entry, which is JSON: finds the members that name its asset and blanks them out in place, so that the rest is the input as the client
 * wrote it. Throws `invalid_request` for an entry that names no asset, or more than one.
 */
const readEntry = async (bytes: Buffer): Promise<ParallelEntry> => {
  const found = await findMembers(bytes, fixedLimits.listDepth);
  if (!found.ok) throw invalid('An entry is an object of "$rule" or "$flow" and the inputs; this one is no object.');
  const named = found.members.flatMap((member, index) => {
    const asset = assetOf(bytes, member);
    return asset === undefined ? [] : [{ asset, member, index }];
  });
  const [last] = named.slice(-1);
  if (last === undefined) throw invalid('The entry names neither "$rule" nor "$flow".');
  if (named.some(({ asset }) => asset !== last.asset)) throw invalid('The entry names both "$rule" and "$flow".');
  const { slug, selector } = readReference(bytes, last.member, last.asset);
  blankOut(
    bytes,
    found.members,
    named.map(({ index }) => index),
  );
  return { asset: last.asset, slug, selector, input: bytes };
};

const assetOf = (bytes: Buffer, { keyStart, keyEnd }: Member): ParallelEntry['asset'] | undefined => {
  if (keyEnd - keyStart > MAX_KEY_BYTES) return undefined;
  const key = textOf(bytes, keyStart, keyEnd);
  return key === '$rule' || key === '$flow' ? ASSETS[key] : undefined;
};

const readReference = (bytes: Buffer, { valueStart, valueEnd }: Member, asset: string) => {
  const text = bytes[valueStart] === QUOTE ? textOf(bytes, valueStart, valueEnd) : '';
  const [, slug, selector = 'latest'] = REFERENCE.exec(text) ?? [];
  if (slug === undefined) throw invalid(`"$${asset}" is the text "slug" or "slug/selector".`);
  return { slug, selector };
};

/** The text of a JSON string whose grammar has been checked. */
const textOf = (bytes: Buffer, start: number, end: number): string =>
  JSON.parse(bytes.toString('utf8', start, end)) as string; // it starts with a quote

/** Overwrites members with spaces, each with the comma after it, or with the comma before it if it is the last remaining one. */
const blankOut = (bytes: Buffer, members: readonly Member[], indexes: readonly number[]): void => {
  const removed = new Set(indexes);
  const kept = members.filter((_, index) => !removed.has(index));
  const lastKept = kept.at(-1);
  for (const index of removed) {
    const member = members[index];
    if (member === undefined) continue;
    const next = members[index + 1];
    bytes.fill(SPACE, member.keyStart, next?.keyStart ?? member.valueEnd);
  }
  if (lastKept === undefined) return;
  // The members after the last kept one were removed; an object must not end with a comma.
  const comma = bytes.indexOf(COMMA, lastKept.valueEnd);
  if (comma >= 0) bytes[comma] = SPACE;
};

const invalid = (sentence: string): ServiceError =>
  new ServiceError('invalid_request', sentence, { problems: [{ in: 'body', path: '', message: sentence }] });

/** A member of a JSON object, by positions in its bytes. */
interface Member {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

type Members =
  { readonly ok: true; readonly members: readonly Member[] } | { readonly ok: false; readonly fault: ScanFault };

/** Bytes scanned between two turns of the event loop: a few milliseconds. */
const SLICE_BYTES = 512 * 1024;

/**
 * Finds the members of a JSON object in the order of its text, without building values. Other work gets its turn between slices. Answers a fault
 * if the bytes are not a JSON object or nest deeper than `maxDepth`.
 */
const findMembers = async (bytes: Buffer, maxDepth: number): Promise<Members> => {
  const scanner = new JsonScanner('object', maxDepth);
  const members: Member[] = [];
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    if (start > 0) await nextTurn();
    scanSlice(scanner, bytes.subarray(start, start + SLICE_BYTES), members);
    if (scanner.fault !== undefined) break;
  }
  if (scanner.fault === undefined) scanner.end();
  return scanner.fault === undefined ? { ok: true, members } : { ok: false, fault: scanner.fault };
};

const scanSlice = (scanner: JsonScanner, slice: Buffer, members: Member[]): void => {
  for (let at = 0; at < slice.length && scanner.fault === undefined;) {
    at = scanner.scan(slice, at);
    if (scanner.event !== 'item' && scanner.event !== 'last-item') continue;
    const { keyStart, keyEnd, itemStart: valueStart, itemEnd: valueEnd } = scanner;
    members.push({ keyStart, keyEnd, valueStart, valueEnd });
  }
  scanner.endPiece(slice);
};
