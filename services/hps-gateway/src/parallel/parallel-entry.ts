import { fixedLimits, ServiceError } from '@decision/contracts';
import { findMembers, type Member } from '../json/find-members';

/** One entry of a parallel request. */
export interface ParallelEntry {
  readonly asset: 'rule' | 'flow';
  readonly slug: string;
  readonly selector: string;
  /** The entry without the members that name the asset: the input. */
  readonly input: Buffer;
}

const ASSETS = { $rule: 'rule', $flow: 'flow' } as const;
const SPACE = 0x20;
const COMMA = 0x2c;
const QUOTE = 0x22;
/** A key longer than this is none of ours, however it is escaped. */
const MAX_KEY_BYTES = 32;
const REFERENCE = /^([^/]{1,200})(?:\/([^/]{1,200}))?$/;

/**
 * Reads one entry, which is JSON: finds what it names and blanks that out in place, so that the rest is the input as the client wrote it.
 * Throws `invalid_request` for an entry that names nothing, or more than one asset.
 */
export const readEntry = async (bytes: Buffer): Promise<ParallelEntry> => {
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
  JSON.parse(bytes.toString('utf8', start, end)) as string; // it begins with a quote

/** Overwrites members with spaces, each with the comma behind it, or where it is the last that stays with the comma before. */
const blankOut = (bytes: Buffer, members: readonly Member[], indexes: readonly number[]): void => {
  const gone = new Set(indexes);
  const kept = members.filter((_, index) => !gone.has(index));
  const lastKept = kept.at(-1);
  for (const index of gone) {
    const member = members[index];
    if (member === undefined) continue;
    const next = members[index + 1];
    bytes.fill(SPACE, member.keyStart, next?.keyStart ?? member.valueEnd);
  }
  if (lastKept === undefined) return;
  // The members behind the last one that stays are gone; a comma may not end an object.
  const comma = bytes.indexOf(COMMA, lastKept.valueEnd);
  if (comma >= 0) bytes[comma] = SPACE;
};

const invalid = (sentence: string): ServiceError =>
  new ServiceError('invalid_request', sentence, { problems: [{ in: 'body', path: '', message: sentence }] });
