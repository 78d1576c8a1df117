import { inflateRawSync } from 'node:zlib';
import { StackError } from '../stack-error';

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const END_LENGTH = 22;
const COMMENT_LIMIT = 0xffff;
const STORED = 0;
const DEFLATED = 8;

/**
 * The content of one file of a zip archive, for which no program is needed that a machine may lack. Reads plain archives:
 * no encryption, no 64-bit extension, methods stored and deflated.
 * @throws {StackError} `fetch_failed` where the archive is damaged, of another kind, or lacks the file.
 */
export const readZipEntry = (archive: Buffer, name: string): Buffer => {
  try {
    const entry = findEntry(archive, name);
    if (entry === undefined) throw damaged(`it has no file ${name}`);
    return content(archive, entry);
  } catch (error) {
    if (error instanceof StackError) throw error;
    throw damaged('it is damaged', error);
  }
};

interface ZipEntry {
  readonly method: number;
  readonly packedLength: number;
  readonly length: number;
  readonly headerOffset: number;
}

const findEntry = (archive: Buffer, name: string): ZipEntry | undefined => {
  const end = endOfDirectory(archive);
  const count = archive.readUInt16LE(end + 10);
  let offset = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    if (archive.readUInt32LE(offset) !== DIRECTORY_ENTRY) throw damaged('its directory is damaged');
    const nameLength = archive.readUInt16LE(offset + 28);
    const nameStart = offset + 46;
    if (archive.toString('utf8', nameStart, nameStart + nameLength) === name) return entryAt(archive, offset);
    offset = nameStart + nameLength + archive.readUInt16LE(offset + 30) + archive.readUInt16LE(offset + 32);
  }
  return undefined;
};

const entryAt = (archive: Buffer, offset: number): ZipEntry => ({
  method: archive.readUInt16LE(offset + 10),
  packedLength: archive.readUInt32LE(offset + 20),
  length: archive.readUInt32LE(offset + 24),
  headerOffset: archive.readUInt32LE(offset + 42),
});

// The record stands at the end, before a comment of unknown length.
const endOfDirectory = (archive: Buffer): number => {
  const lowest = Math.max(0, archive.length - END_LENGTH - COMMENT_LIMIT);
  for (let offset = archive.length - END_LENGTH; offset >= lowest; offset -= 1) {
    if (archive.readUInt32LE(offset) === END_OF_DIRECTORY) return offset;
  }
  throw damaged('it is no zip archive');
};

const content = (archive: Buffer, entry: ZipEntry): Buffer => {
  const { headerOffset } = entry;
  if (archive.readUInt32LE(headerOffset) !== LOCAL_HEADER) throw damaged('a file header is damaged');
  const start = headerOffset + 30 + archive.readUInt16LE(headerOffset + 26) + archive.readUInt16LE(headerOffset + 28);
  const packed = archive.subarray(start, start + entry.packedLength);
  const bytes = unpack(packed, entry);
  if (bytes.length !== entry.length) throw damaged('a file in it is cut short');
  return bytes;
};

const unpack = (packed: Buffer, { method, length }: ZipEntry): Buffer => {
  if (method === STORED) return packed;
  if (method === DEFLATED) return inflateRawSync(packed, { maxOutputLength: Math.max(1, length) });
  throw damaged(`it is packed with method ${method}`);
};

const damaged = (why: string, cause?: unknown): StackError =>
  new StackError('fetch_failed', `The archive cannot be read: ${why}.`, { cause });
