import { createHash, generateKeyPairSync } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openObjectStore, openSignatureCheck, openSigner, signDay, verifyArchive } from '../src';

type Store = Awaited<ReturnType<typeof openObjectStore>>;
const FOLDER = 'workspace=6f6a1d1e-0000-4000-8000-000000000001/date=2026-01-01';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Two hours after the end of 1 January. */
const SIGNED_AT = Date.parse('2026-01-02T02:00:00Z');

const keys = generateKeyPairSync('ed25519', {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const other = generateKeyPairSync('ed25519', {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const signer = openSigner(keys.privateKey);

let root: string;
let store: Store;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'daily-test-'));
  store = await openObjectStore(`file://${join(root, 'archive')}`);
});
afterEach(() => rm(root, { recursive: true }));

const fileOf = (key: string): string => join(root, 'archive', key);
const put = async (key: string, text: string) => {
  const path = join(root, 'object');
  await writeFile(path, text);
  await store.putFile(key, path);
  return { key, records: text.length, bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') };
};

interface Roll {
  readonly partition?: number;
  readonly digest?: string;
  /** Default: all. */
  readonly messages?: number;
}
/** Writes the object and the manifest of a range of offsets, as the writer does; answers the object. */
const write = async (from: number, to: number, { partition = 0, digest = 'aa', messages = to - from }: Roll = {}) => {
  const key = `decisions/${FOLDER}/hour=09/${partition}-${from}-${to}-${digest}.parquet`;
  const name = `logs/partition=${partition}/${String(from).padStart(19, '0')}-${digest}.json`;
  await store.create(`boundaries/${name}`, '{}');
  const object = await put(key, `rows of ${key}`);
  const manifest = { v: 1, topic: 'logs', partition, from, to, digest, messages, unreadable: 0, objects: [object] };
  await store.create(`manifests/${name}`, JSON.stringify(manifest));
  return { ...object, manifest: `manifests/${name}` };
};
const replace = async (name: string, replaces: readonly string[], text: string | null, textOf = signer.textOf) => {
  const object = text === null ? null : await put(`decisions/${FOLDER}/hour=09/c-${name}.parquet`, text);
  const compaction = { v: 1, at: '2026-01-01T12:00:00.000Z', object, replaces };
  await store.create(`compactions/${FOLDER}/${name}.json`, textOf(compaction));
  for (const key of replaces) await store.remove(key);
};
const sign = (days = 0, more: Partial<Parameters<typeof signDay>[0]> = {}) =>
  signDay({ store, signer, now: () => SIGNED_AT + days * DAY_MS, ...more });
const verify = (more: Partial<Parameters<typeof verifyArchive>[0]> = {}) =>
  verifyArchive({ store, isSigned: openSignatureCheck(keys.publicKey), readsObjects: true, ...more });

describe('the manifest of a day', () => {
  it('is made two hours after the end of the day, by one process', async () => {
    await write(0, 10);
    expect(await sign(0, { now: () => SIGNED_AT - 1 })).toMatchObject({ date: '2025-12-31' });
    const signed = await Promise.all([sign(), sign()]);
    expect(signed.filter((day) => day !== undefined)).toMatchObject([{ date: '2026-01-01', rolls: 0, missing: 0 }]);
    expect(await sign()).toBeUndefined();
    expect(await verify()).toMatchObject({ days: 2, problems: [] });
  });

  it('names what was archived since the previous one, and the messages that are missing in between', async () => {
    await write(5, 10);
    await write(12, 20, { messages: 6 });
    await write(0, 7, { partition: 1 });
    expect(await sign()).toMatchObject({ rolls: 3, objects: 3, missing: 4 });
    expect(await sign(1)).toMatchObject({ rolls: 0, missing: 0 });
    await write(21, 30);
    expect(await sign(2)).toMatchObject({ rolls: 1, missing: 1 });
    await write(30, 40);
    const found = await verify();
    expect(found).toMatchObject({ days: 3, rolls: 4, objects: 4, missingMessages: 5, notSigned: 1, problems: [] });
    expect(found.missing).toEqual([
      'logs/0: 2 of the offsets 10 to 11',
      'logs/0: 2 of the offsets 12 to 19',
      'logs/0: 1 of the offsets 20 to 20',
    ]);
  });

  it('names the messages of a topic that was read again or recreated', async () => {
    await write(0, 50);
    await write(50, 100);
    await sign();
    await write(70, 120, { digest: 'bb' });
    expect(await sign(1)).toMatchObject({ rolls: 1, missing: 0 });
    await write(120, 130);
    expect(await sign(2)).toMatchObject({ rolls: 1, missing: 0 });
    await write(0, 20, { digest: 'cc' });
    expect(await sign(3)).toMatchObject({ rolls: 1, missing: 0 });
    await write(21, 30, { digest: 'cc' });
    expect(await sign(4)).toMatchObject({ rolls: 1, missing: 1 });
    expect(await verify()).toMatchObject({ rolls: 6, missingMessages: 1, notSigned: 0, problems: [] });
  });

  it('is not made if an earlier manifest cannot be read', async () => {
    const { manifest } = await write(0, 10);
    await writeFile(fileOf(manifest), '{"v":1');
    await expect(sign()).rejects.toMatchObject({ code: 'damaged_object', message: expect.stringContaining(manifest) as string }); // prettier-ignore
  });

  it('has a signature over its text without the signature member', async () => {
    await write(0, 10);
    await sign();
    const text = await readFile(fileOf('daily/2026-01-01.json'), 'utf8');
    const { signature: _, ...signed } = JSON.parse(text) as { signature: string };
    expect(openSignatureCheck(keys.publicKey)(text)).toBe(true);
    expect(text.startsWith(JSON.stringify(signed).slice(0, -1))).toBe(true);
  });
});

describe('verifying', () => {
  it('follows objects to their replacements', async () => {
    const [first, second, third] = [await write(0, 10), await write(10, 20), await write(20, 30)];
    await sign();
    await replace('one', [first.key, second.key], 'both');
    await replace('two', [`decisions/${FOLDER}/hour=09/c-one.parquet`], 'without a person');
    await replace('three', [third.key], null);
    expect(await verify()).toMatchObject({ objects: 3, replaced: 3, erased: 1, problems: [] });
  });

  it('reports replacements without a signature, unless the first manifest came after them', async () => {
    const first = await write(0, 10);
    await replace('one', [first.key], 'one', JSON.stringify);
    await sign();
    expect(await verify()).toMatchObject({ replaced: 1, problems: [] });
    const second = await write(10, 20);
    await sign(1);
    await replace('two', [second.key], 'two', openSigner(other.privateKey).textOf);
    expect((await verify()).problems).toEqual([
      `"compactions/${FOLDER}/two.json" replaced "${second.key}" without a signature.`,
    ]);
  });

  const damages: readonly [string, (object: { key: string; manifest: string }) => Promise<unknown>, RegExp][] = [
    ['an object that is gone', ({ key }) => store.remove(key), /0-0-10-aa.parquet" is gone/],
    ['an object that is longer', ({ key }) => appendFile(fileOf(key), 'x'), /has \d+ bytes instead of/],
    ['an object of other bytes', async ({ key }) => writeFile(fileOf(key), (await readFile(fileOf(key), 'utf8')).replace('rows', 'rowz')), /aa.parquet" was changed/],
    ['an object that a compaction made', ({ key }) => replace('one', [key], 'one').then(() => writeFile(fileOf(`decisions/${FOLDER}/hour=09/c-one.parquet`), 'two')), /c-one.parquet" was changed/],
    ['a compaction that cannot be read', () => store.create(`compactions/${FOLDER}/bad.json`, '{"v":'), /bad.json" of the archive is not a compaction/],
    ['an object that was added', () => put(`decisions/${FOLDER}/hour=09/0-3-4-ff.parquet`, 'x'), /0-3-4-ff.parquet" was not written by a collector/],
    ['a manifest of messages that is gone', ({ manifest }) => store.remove(manifest), /aa.json" is gone/],
    ['a manifest of messages that was changed', ({ manifest }) => appendFile(fileOf(manifest), ' '), /aa.json" was changed/],
    ['a manifest of a day that was changed', () => appendFile(fileOf('daily/2026-01-01.json'), ' '), /2026-01-01.json" was changed/],
    ['a manifest of a day that is gone', () => store.remove('daily/2026-01-01.json'), /"daily\/2026-01-02.json" does not follow/],
    ['a manifest of a day of another key', async () => writeFile(fileOf('daily/2026-01-02.json'), openSigner(other.privateKey).textOf(JSON.parse(await readFile(fileOf('daily/2026-01-02.json'), 'utf8')) as object)), /2026-01-02.json" was changed, or signed with another key/],
  ]; // prettier-ignore
  it.each(damages)('tells %s', async (_, damage, sentence) => {
    const object = await write(0, 10);
    await sign();
    await write(10, 20);
    await sign(1);
    expect((await verify()).problems).toEqual([]);
    await damage(object);
    expect((await verify()).problems.join(' ')).toMatch(sentence);
  });

  it('does not report objects of expired dates as missing', async () => {
    const { key } = await write(0, 10);
    await sign();
    await store.remove(key);
    expect(await verify({ keptSince: '2026-01-02' })).toMatchObject({ expired: 1, problems: [] });
    expect((await verify({ keptSince: '2026-01-01' })).problems).toHaveLength(1);
  });

  it('checks the objects of the requested days, and the whole chain', async () => {
    const { key } = await write(0, 10);
    await sign();
    await write(10, 20);
    await sign(1);
    await store.remove(key);
    expect(await verify({ from: '2026-01-02' })).toMatchObject({ days: 2, rolls: 1, problems: [] });
    expect((await verify({ to: '2026-01-01' })).problems).toHaveLength(1);
  });

  it('reports the last manifest, so that manifests removed from the end are noticed', async () => {
    await sign();
    await sign(1);
    const { last } = await verify();
    const text = await readFile(fileOf('daily/2026-01-02.json'), 'utf8');
    expect(last).toEqual({ date: '2026-01-02', sha256: createHash('sha256').update(text).digest('hex') });
  });

  it('accepts signatures of several keys, so that keys can be rotated', async () => {
    await sign();
    await sign(1, { signer: openSigner(other.privateKey) });
    const isSigned = openSignatureCheck(keys.publicKey + other.publicKey);
    expect(await verify({ isSigned })).toMatchObject({ days: 2, problems: [] });
  });
});

describe('keys', () => {
  const rsa = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  it.each([
    ['no key', 'secret', /not a private key in PEM/],
    ['a public key', keys.publicKey, /not a private key in PEM/],
    ['a key of another kind', rsa.privateKey, /"rsa" instead of Ed25519/],
  ])('to sign with are refused if they are %s, without revealing them', (_, pem, sentence) => {
    expect(() => openSigner(pem)).toThrow(sentence);
    expect(() => openSigner(pem)).not.toThrow(pem);
  });
  it.each([
    ['no key', 'secret', /no key in PEM/],
    ['a key of another kind', rsa.publicKey, /"rsa" instead of Ed25519/],
    ['half a key', '-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----', /cannot be read/],
  ])('to verify with are refused if they are %s', (_, pem, sentence) => {
    expect(() => openSignatureCheck(pem)).toThrow(sentence);
  });
});
