import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';
import { fixedLimits } from '@decision/contracts';
import { decompress as inflateZstd } from 'fzstd';
import { CompressionCodecs, CompressionTypes } from 'kafkajs';
import { decompressFrame, decompressFrameSync } from 'lz4-napi';
import { checkInflated, lz4MostBytes, MOST_INFLATED_BYTES, zstdMostBytes } from './inflated-size';
import { snappyCodec } from './snappy-codec';

/** Decompresses; small inputs are answered without a promise. Throws if the bytes are broken or their inflated size exceeds the bound. */
type Inflate = (bytes: Buffer) => Buffer | Promise<Buffer>;

/** Above this size the work moves from the event loop to the thread pool, if there is a native library. */
const ASYNC_ABOVE_BYTES = fixedLimits.compressAboveBytes;

const inflateLz4: Inflate = (bytes) => {
  const most = lz4MostBytes(bytes);
  checkInflated('LZ4', most);
  return most <= ASYNC_ABOVE_BYTES ? decompressFrameSync(bytes) : decompressFrame(bytes);
};

/** The answer may be longer than its content: records are counted, and nothing is read after the last one. */
const inflateZstandard: Inflate = (bytes) => {
  const most = zstdMostBytes(bytes);
  checkInflated('Zstandard', most);
  const { buffer, byteOffset, byteLength } = inflateZstd(bytes, new Uint8Array(most));
  return Buffer.from(buffer, byteOffset, byteLength);
};

const gunzipAside = promisify(gunzip);
const GZIP_BOUND = { maxOutputLength: MOST_INFLATED_BYTES } as const;

const inflateGzip: Inflate = (bytes) =>
  bytes.length <= ASYNC_ABOVE_BYTES / 16 ? gunzipSync(bytes, GZIP_BOUND) : gunzipAside(bytes, GZIP_BOUND);

const INFLATERS: ReadonlyMap<number, Inflate> = new Map<number, Inflate>([
  [CompressionTypes.None, (bytes) => bytes],
  [CompressionTypes.GZIP, inflateGzip],
  [CompressionTypes.Snappy, (bytes) => snappyCodec.decompress(bytes)],
  [CompressionTypes.LZ4, inflateLz4],
  [CompressionTypes.ZSTD, inflateZstandard],
]);

/** Decompression by the number of a compression in a record batch (decision 23); undefined for an unknown number. */
export const inflaterOf = (compression: number): Inflate | undefined => INFLATERS.get(compression);

/** A compression that this service only reads; it writes Snappy. */
const readOnly = (name: string, decompress: Inflate) => () => ({
  compress: () => Promise.reject(new TypeError(`This service does not write ${name}.`)),
  decompress: async (bytes: Buffer) => decompress(bytes),
});

/** Registers the codecs with the client library, for the whole process. Safe to call many times. */
export const registerCodecs = (): void => {
  CompressionCodecs[CompressionTypes.Snappy] = () => snappyCodec;
  CompressionCodecs[CompressionTypes.LZ4] = readOnly('LZ4', inflateLz4);
  CompressionCodecs[CompressionTypes.ZSTD] = readOnly('Zstandard', inflateZstandard);
};
