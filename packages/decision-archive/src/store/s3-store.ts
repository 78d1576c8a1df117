import { createHash, randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { addAbortSignal, Readable } from 'node:stream';
import type { S3, S3ClientConfig } from '@aws-sdk/client-s3';
import { type ObjectStore, type StoredObject } from './object-store';
import { type S3Address } from './s3-address';
import { type Asking, type AskingBounds, createAsking, DamagedAnswer, refusedWith } from './s3-asking';
import { ArchiveError } from '../archive-error';

/** Larger files are uploaded in parts of this size, ten thousand at most. */
const PART_BYTES = 8 * 1024 * 1024;
/** The longest text that is read. */
const TEXT_BYTES = 256 * 1024 * 1024;
const CONNECT_MS = 5_000;
const MAX_CONNECTIONS = 32;
/** An object that is made to test whether the store honours conditions. */
const PROBE_KEY = 'probes/conditions';

/** Dependencies of every operation. */
interface StoreContext {
  readonly client: S3;
  readonly ask: Asking;
  readonly bucket: string;
  readonly prefix: string;
}

/**
 * Keeps objects in an S3 store. Each request has a deadline and three attempts, and its answer is checked
 * (docs/adr/0059-answers-of-an-s3-store-are-checked.md). @throws {ArchiveError} `not_opened` if no region is known.
 */
export const openS3Store = async (address: S3Address, bounds: AskingBounds = {}): Promise<ObjectStore> => {
  const { bucket, prefix } = address;
  const client = await openClient(address);
  const context: StoreContext = { client, ask: createAsking(`s3://${bucket}/${prefix}`, bounds), bucket, prefix };
  let probing: Promise<void> | undefined;
  const probe = (): Promise<void> =>
    (probing ??= refuseUnconditional(context).catch((error: unknown) => {
      probing = undefined;
      throw error;
    }));
  return {
    putFile: (key, path) => putFile(context, key, path),
    create: async (key, text) => {
      await probe();
      return create(context, key, text);
    },
    read: (key) => read(context, key),
    list: (wanted) => list(context, wanted),
    folders: (wanted) => folders(context, wanted),
    readRange: (key, from, to) => readRange(context, { key, from, to }),
    remove: (key) => remove(context, key),
    pathOf: () => undefined,
  };
};

const openClient = async (address: S3Address): Promise<S3> => {
  const { S3: Client } = await import('@aws-sdk/client-s3');
  const agent = { keepAlive: true, maxSockets: MAX_CONNECTIONS };
  const config: S3ClientConfig = {
    ...(address.region === undefined ? {} : { region: address.region }),
    ...(address.endpoint === undefined ? {} : { endpoint: address.endpoint }),
    forcePathStyle: address.isPathStyle,
    // Attempts are made around the client, which makes none if the body of an answer breaks off.
    maxAttempts: 1,
    // Some compatible servers refuse or ignore the protocol's newer checksums; every put has Content-MD5.
    ...{ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' },
    requestHandler: { connectionTimeout: CONNECT_MS, httpAgent: agent, httpsAgent: agent },
  };
  const client = new Client(config);
  try {
    await client.config.region();
  } catch (cause) {
    throw new ArchiveError(
      'not_opened',
      'The region of the archive is not set. Add region=NAME to its URL, or set AWS_REGION; stores without regions take us-east-1.',
      { cause },
    );
  }
  return client;
};

const md5Of = (bytes: Buffer): string => createHash('md5').update(bytes).digest('base64');
const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Every object has an entity tag; pages of gateways that answer in place of a store have none. */
const requireTag = (tag: string | undefined): string => {
  if (tag === undefined || tag === '') throw new DamagedAnswer('answered without an entity tag, so it kept nothing');
  return tag;
};

const putFile = async (context: StoreContext, key: string, path: string): Promise<void> => {
  const { client, ask, bucket, prefix } = context;
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const partOf = async (from: number): Promise<Buffer> => {
      const part = Buffer.alloc(Math.min(PART_BYTES, size - from));
      const { bytesRead } = await file.read(part, 0, part.length, from);
      if (bytesRead === part.length) return part;
      throw new ArchiveError('store_failed', `The file ${path} became shorter while it was put into the archive.`);
    };
    if (size > PART_BYTES) {
      await putParts(context, key, { size, partOf });
      return;
    }
    const body = await partOf(0);
    await ask({ task: `keep "${key}"`, bytes: size }, async (abortSignal) => {
      const put = { Bucket: bucket, Key: `${prefix}${key}`, Body: body, ContentMD5: md5Of(body) };
      requireTag((await client.putObject(put, { abortSignal })).ETag);
    });
  } finally {
    await file.close();
  }
};

interface Parts {
  readonly size: number;
  /** The part that begins at this byte. */
  readonly partOf: (from: number) => Promise<Buffer>;
}

/**
 * The object exists once the upload is completed. An upload that a dying process leaves is not an object; a rule of the bucket should abort
 * it.
 */
const putParts = async (context: StoreContext, key: string, { size, partOf }: Parts): Promise<void> => {
  const { client, ask, bucket, prefix } = context;
  const task = `keep "${key}"`;
  const mark = randomUUID();
  const object = { Bucket: bucket, Key: `${prefix}${key}` };
  const upload = await ask({ task }, async (abortSignal) => {
    const { UploadId: id } = await client.createMultipartUpload({ ...object, Metadata: { mark } }, { abortSignal });
    if (id === undefined || id === '') throw new DamagedAnswer('began no upload');
    return { ...object, UploadId: id };
  });
  try {
    const parts: { PartNumber: number; ETag: string }[] = [];
    for (let from = 0; from < size; from += PART_BYTES) {
      const body = await partOf(from);
      const part = { PartNumber: parts.length + 1, Body: body, ContentMD5: md5Of(body) };
      const tag = await ask({ task, bytes: body.length }, async (abortSignal) =>
        requireTag((await client.uploadPart({ ...upload, ...part }, { abortSignal })).ETag),
      );
      parts.push({ PartNumber: part.PartNumber, ETag: tag });
    }
    await ask({ task }, async (abortSignal) => {
      try {
        const whole = { ...upload, MultipartUpload: { Parts: parts } };
        requireTag((await client.completeMultipartUpload(whole, { abortSignal })).ETag);
      } catch (error) {
        // It is gone if an earlier attempt succeeded and its answer was lost.
        if (!refusedWith(error, 404) || (await markOf(context, key, abortSignal)) !== mark) throw error;
      }
    });
  } catch (error) {
    await client.abortMultipartUpload(upload, { abortSignal: AbortSignal.timeout(CONNECT_MS) }).catch(() => undefined);
    throw error;
  }
};

/** The mark of the process that made an object; undefined if it has none. */
const markOf = async (
  { client, bucket, prefix }: StoreContext,
  key: string,
  abortSignal: AbortSignal,
): Promise<string | undefined> =>
  (await client.headObject({ Bucket: bucket, Key: `${prefix}${key}` }, { abortSignal })).Metadata?.['mark'];

/** Rejects if a store replaces an object despite If-None-Match: two processes could then not agree on an object. */
const refuseUnconditional = async (context: StoreContext): Promise<void> => {
  const text = '{"v":1}';
  if (!(await create(context, PROBE_KEY, text)) || !(await create(context, PROBE_KEY, text))) return;
  throw new ArchiveError(
    'store_failed',
    "The archive's store replaces objects in spite of the condition If-None-Match, so two processes could lose decisions. Use a store that honours it.",
  );
};

const create = (context: StoreContext, key: string, text: string): Promise<boolean> => {
  const { client, ask, bucket, prefix } = context;
  const body = Buffer.from(text);
  const mark = randomUUID();
  const object = { Bucket: bucket, Key: `${prefix}${key}`, IfNoneMatch: '*', Body: body, ContentMD5: md5Of(body) };
  const more = { ContentType: 'application/json', Metadata: { mark, sha256: sha256Of(body) } };
  let attempts = 0;
  return ask({ task: `make "${key}"`, bytes: body.length }, async (abortSignal) => {
    attempts += 1;
    try {
      requireTag((await client.putObject({ ...object, ...more }, { abortSignal })).ETag);
      return true;
    } catch (error) {
      if (!refusedWith(error, 412)) throw error;
      // The object may be from an earlier attempt whose answer was lost.
      return attempts > 1 && (await markOf(context, key, abortSignal)) === mark;
    }
  });
};

/** All bytes of an answer. Rejects beyond `most`, and if the connection breaks off. */
const bytesOf = async (body: unknown, most: number, signal: AbortSignal): Promise<Buffer> => {
  if (!(body instanceof Readable)) throw new DamagedAnswer('answered without a body');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of addAbortSignal(signal, body)) {
    const part = chunk as Buffer; // a stream of bytes
    bytes += part.length;
    if (bytes > most) throw new DamagedAnswer(`answered with more than the ${most} bytes that were expected`);
    chunks.push(part);
  }
  return Buffer.concat(chunks, bytes);
};

const read = ({ client, ask, bucket, prefix }: StoreContext, key: string): Promise<string | undefined> =>
  ask({ task: `give "${key}"` }, async (abortSignal) => {
    try {
      const object = await client.getObject({ Bucket: bucket, Key: `${prefix}${key}` }, { abortSignal });
      const body = await bytesOf(object.Body, TEXT_BYTES, abortSignal);
      requireTag(object.ETag);
      const expected = object.Metadata?.['sha256'];
      if (expected !== undefined && expected !== sha256Of(body))
        throw new DamagedAnswer(`answered with ${body.length} bytes that differ from those that were stored`);
      return body.toString();
    } catch (error) {
      if (isNoSuchKey(error)) return undefined;
      throw error;
    }
  });

/** A missing bucket is answered with 404 too, and must not be taken for a missing object. */
const isNoSuchKey = (error: unknown): boolean =>
  refusedWith(error, 404) && (error as { readonly name?: unknown }).name === 'NoSuchKey'; // only asked for a name

/** One page of a list. */
interface ListedPage {
  readonly objects: readonly StoredObject[];
  /** Common prefixes of keys, if a delimiter was given. */
  readonly prefixes: readonly string[];
}

async function* pages(
  context: StoreContext,
  wanted: string,
  delimited: { readonly Delimiter?: string },
): AsyncGenerator<ListedPage, void, undefined> {
  const { client, ask, bucket, prefix } = context;
  const page = { Bucket: bucket, Prefix: `${prefix}${wanted}`, ...delimited };
  let token: string | undefined;
  do {
    const next = token === undefined ? {} : { ContinuationToken: token };
    const { following, ...listed } = await ask({ task: `list "${wanted}"` }, async (abortSignal) => {
      const answer = await client.listObjectsV2({ ...page, ...next }, { abortSignal });
      // A page that is not a list has neither; an empty list has both.
      if (answer.Prefix !== page.Prefix || answer.IsTruncated === undefined)
        throw new DamagedAnswer('answered with something other than a list of these objects');
      const after = answer.IsTruncated ? answer.NextContinuationToken : undefined;
      if (answer.IsTruncated && (after === undefined || after === token))
        throw new DamagedAnswer('answered with a truncated list without a continuation token');
      const prefixes = (answer.CommonPrefixes ?? []).map(({ Prefix: common }) => common ?? '');
      return { objects: (answer.Contents ?? []).map(objectOf(context)), prefixes, following: after };
    });
    yield listed;
    token = following;
  } while (token !== undefined);
}

async function* list(context: StoreContext, wanted: string): AsyncGenerator<StoredObject, void, undefined> {
  let last = '';
  for await (const { objects } of pages(context, wanted, {}))
    for (const object of objects) {
      if (object.key <= last)
        throw new ArchiveError('store_failed', `The archive lists "${object.key}" after "${last}", out of order.`);
      last = object.key;
      yield object;
    }
}

const folders = async (context: StoreContext, wanted: string): Promise<readonly string[]> => {
  const names: string[] = [];
  const length = context.prefix.length + wanted.length;
  for await (const { prefixes } of pages(context, wanted, { Delimiter: '/' }))
    names.push(...prefixes.map((common) => common.slice(length, -1)));
  return names.sort();
};

const objectOf =
  ({ prefix }: StoreContext) =>
  ({ Key: key, Size: bytes }: { Key?: string; Size?: number }): StoredObject => {
    if (key?.startsWith(prefix) !== true || bytes === undefined)
      throw new DamagedAnswer('answered with a list of objects that lack a name or a size');
    return { key: key.slice(prefix.length), bytes };
  };

const readRange = async (
  { client, ask, bucket, prefix }: StoreContext,
  { key, from, to }: { key: string; from: number; to: number },
): Promise<Buffer> => {
  if (to <= from) return Buffer.alloc(0);
  const range = `bytes=${from}-${to - 1}`;
  return ask({ task: `give bytes ${from} to ${to} of "${key}"`, bytes: to - from }, async (abortSignal) => {
    const object = { Bucket: bucket, Key: `${prefix}${key}`, Range: range };
    const answer = await client.getObject(object, { abortSignal });
    const status = answer.$metadata.httpStatusCode;
    const given = /^bytes (\d+-\d+)\/(?:\d+|\*)$/.exec(answer.ContentRange ?? '')?.[1];
    if (status !== 206 || given !== `${from}-${to - 1}`) {
      if (answer.Body instanceof Readable) answer.Body.destroy();
      throw new DamagedAnswer(
        status === 206 && given !== undefined
          ? `answered with the bytes ${given} instead, so the object is shorter`
          : `answered ${status ?? 'nothing'}, without the range that was asked for`,
      );
    }
    const body = await bytesOf(answer.Body, to - from, abortSignal);
    if (body.length < to - from) throw new DamagedAnswer(`answered with ${body.length} of ${to - from} bytes`);
    return body;
  });
};

const remove = ({ client, ask, bucket, prefix }: StoreContext, key: string): Promise<void> =>
  ask({ task: `remove "${key}"` }, async (abortSignal) => {
    try {
      const answer = await client.deleteObject({ Bucket: bucket, Key: `${prefix}${key}` }, { abortSignal });
      const status = answer.$metadata.httpStatusCode;
      if (status !== 204) throw new DamagedAnswer(`answered ${status ?? 'nothing'} instead of 204`);
    } catch (error) {
      if (!isNoSuchKey(error)) throw error;
    }
  });
