import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { ServiceError } from '@decision/contracts';

/** How a body is packed on the wire. */
export type ContentCoding = 'identity' | 'gzip' | 'deflate' | 'br';

const CODINGS: Readonly<Record<string, ContentCoding>> = {
  identity: 'identity',
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'br',
};

/** The coding that the header names. Throws `unsupported_media_type` for an unknown one and for several at once. */
export const contentCodingOf = (header: string | undefined): ContentCoding => {
  if (header === undefined) return 'identity';
  const name = header.trim().toLowerCase();
  const coding = Object.hasOwn(CODINGS, name) ? CODINGS[name] : undefined;
  if (coding !== undefined) return coding;
  const shown = JSON.stringify(header.slice(0, 100));
  throw new ServiceError(
    'unsupported_media_type',
    `The content encoding ${shown} is not accepted; send gzip, deflate, br or none.`,
  );
};

type Unpack = (packed: Buffer, options: ZlibOptions) => Promise<Buffer>;

const UNPACK: Readonly<Record<Exclude<ContentCoding, 'identity'>, Unpack>> = {
  gzip: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  deflate: promisify<Buffer, ZlibOptions, Buffer>(inflate),
  br: promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress),
};

const CHUNK_BYTES = 64 * 1024;

/**
 * Unpacks a body. Stops at the limit: a bomb costs no more than `limitBytes` of memory. Throws what `tooLarge` makes past the limit and
 * `invalid_request` for data that is not of this coding.
 */
export const unpack = async (
  packed: Buffer,
  coding: ContentCoding,
  limitBytes: number,
  tooLarge: () => ServiceError,
): Promise<Buffer> => {
  if (coding === 'identity') return packed;
  try {
    return await UNPACK[coding](packed, { maxOutputLength: limitBytes, chunkSize: CHUNK_BYTES });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException; // zlib fails with system errors only
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new ServiceError(
      'invalid_request',
      `The body is not valid ${coding} data, as its content encoding says.`,
      {},
      { cause },
    );
  }
};
