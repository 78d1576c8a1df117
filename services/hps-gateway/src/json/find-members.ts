import { setImmediate as nextTurn } from 'node:timers/promises';
import { JsonScanner, type ScanFault } from './json-scanner';

/** A member of a JSON object, by positions in its bytes. */
export interface Member {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export type Members =
  { readonly ok: true; readonly members: readonly Member[] } | { readonly ok: false; readonly fault: ScanFault };

/** Bytes between two turns of the event loop: a few milliseconds of scanning. */
const SLICE_BYTES = 512 * 1024;

/**
 * The members of a JSON object in the order of its text, found without building values. Other work gets its turn between slices. Answers
 * a fault where the bytes are no JSON object or nest deeper than `maxDepth`.
 */
export const findMembers = async (bytes: Buffer, maxDepth: number): Promise<Members> => {
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
