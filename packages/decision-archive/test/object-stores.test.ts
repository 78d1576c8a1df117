import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openObjectStore } from '../src';
import { type StoredObject } from '../src/store/object-store';
import { readS3Address } from '../src/store/s3-address';
import { openS3Store } from '../src/store/s3-store';
import { type Fault, type ObjectServer, startObjectServer } from './object-server';

let folder: string;
let server: ObjectServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'object-stores-'));
  server = await startObjectServer();
}, 360_000);
afterEach(() => server.meet(() => 'pass'));
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true });
});

type Store = Awaited<ReturnType<typeof openObjectStore>>;
const fileOf = async (content: Buffer | string): Promise<string> => {
  const path = join(folder, randomUUID());
  await writeFile(path, content);
  return path;
};
const listed = async (store: Store, prefix: string): Promise<StoredObject[]> => {
  const objects: StoredObject[] = [];
  for await (const object of store.list(prefix)) objects.push(object);
  return objects;
};

describe.each(['file', 's3'])('a store of kind %s', (kind) => {
  let store: Store;
  beforeAll(async () => {
    store = await openObjectStore(kind === 's3' ? server.url() : `file://${join(folder, 'store')}`);
  });

  it('makes an object only if its key does not exist', async () => {
    expect(await store.read('a/b.json')).toBeUndefined();
    expect(await store.create('a/b.json', '{"é":1}')).toBe(true);
    expect(await store.create('a/b.json', 'other')).toBe(false);
    expect(await store.read('a/b.json')).toBe('{"é":1}');
  });

  it('lets one of many concurrent callers make an object', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, (_, at) => store.create('race.json', String(at))));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await store.read('race.json')).toBe(String(made.indexOf(true)));
  });

  it('stores a copy of a file and replaces the previous one', async () => {
    await store.putFile('put/x=1/file', await fileOf('first'));
    await store.putFile('put/x=1/file', await fileOf('second!'));
    expect(await store.read('put/x=1/file')).toBe('second!');
    await store.putFile('put/empty', await fileOf(''));
    expect(await listed(store, 'put/')).toEqual([
      { key: 'put/empty', bytes: 0 },
      { key: 'put/x=1/file', bytes: 7 },
    ]);
  });

  it('stores a file of several parts unchanged', async () => {
    const content = randomBytes(17 * 1024 * 1024 + 3);
    await store.putFile('large', await fileOf(content));
    expect((await store.readRange('large', 0, content.length)).equals(content)).toBe(true);
    const middle = await store.readRange('large', 8 * 1024 * 1024 - 2, 8 * 1024 * 1024 + 2);
    expect(middle.equals(content.subarray(8 * 1024 * 1024 - 2, 8 * 1024 * 1024 + 2))).toBe(true);
  });

  it('lists the objects of a prefix in ascending order', async () => {
    const keys = ['list/a-b', 'list/a.b/1', 'list/a/1', 'list/a/x=1/2', 'list/a0', 'list/b'];
    for (const key of [...keys].reverse()) await store.create(key, '12');
    if (kind === 's3') server.meet(({ path }) => (path.includes('list-type') ? { morePath: '&max-keys=2' } : 'pass'));
    expect(await listed(store, 'list/')).toEqual(keys.map((key) => ({ key, bytes: 2 })));
    if (kind === 's3') expect(server.asked.filter(({ path }) => path.includes('continuation-token'))).toHaveLength(2);
    expect((await listed(store, 'list/a/')).map(({ key }) => key)).toEqual(['list/a/1', 'list/a/x=1/2']);
    expect(await listed(store, 'nothing/')).toEqual([]);
    expect(await store.folders('list/')).toEqual(['a', 'a.b']);
    expect(await store.folders('nothing/')).toEqual([]);
  });

  it('rejects a range beyond the object, and a missing object', async () => {
    await store.putFile('short', await fileOf('12345'));
    expect((await store.readRange('short', 1, 4)).toString()).toBe('234');
    expect(await store.readRange('short', 2, 2)).toHaveLength(0);
    await expect(store.readRange('short', 3, 9)).rejects.toThrow();
    await expect(store.readRange('short', 9, 12)).rejects.toThrow();
    await expect(store.readRange('missing', 0, 1)).rejects.toThrow();
  });

  it('removes an object, even a missing one', async () => {
    await store.create('gone/x', 'x');
    await store.remove('gone/x');
    await store.remove('gone/x');
    expect(await store.read('gone/x')).toBeUndefined();
    expect(await listed(store, 'gone/')).toEqual([]);
  });

  it('names the path of an object if it is a local file', () => {
    expect(store.pathOf('a/b.json')).toBe(kind === 'file' ? join(folder, 'store', 'a', 'b.json') : undefined);
  });
});

describe('an S3 store that misbehaves', () => {
  let store: Store;
  beforeEach(async () => {
    const address = readS3Address(new URL(server.url()));
    store = await openS3Store(address, { pauseMs: 5 });
    await store.create('kept', 'of one');
  });
  const operations: readonly [string, (on: Store) => Promise<unknown>][] = [
    ['putFile', (on) => fileOf('new').then((path) => on.putFile('new', path))],
    ['create', (on) => on.create('made', 'made')],
    ['read', (on) => on.read('kept')],
    ['list', (on) => listed(on, 'folder/')],
    ['readRange', (on) => on.readRange('kept', 0, 2)],
    ['remove', (on) => on.remove('kept')],
  ];
  const page = '<html><body><h1>Welcome</h1></body></html>';
  const faults: readonly [string, Fault, RegExp][] = [
    ['503 with an error', { status: 503, body: '<Error><Code>SlowDown</Code></Error>' }, /503 \(SlowDown\) \(3 att/],
    ['503 with a page', { status: 503, headers: { 'content-type': 'text/html' }, body: page }, /503/],
    ['503 with nothing', { status: 503 }, /503/],
    ['200 with a page', { status: 200, headers: { 'content-type': 'text/html' }, body: page }, /it answered .*3 att/],
    ['204 with nothing', { status: 204 }, /it answered/],
    ['404 with a page', { status: 404, headers: { 'content-type': 'text/html' }, body: page }, /404/],
    [
      '403',
      { status: 403, body: '<Error><Code>AccessDenied</Code><Message>any s3cr3t</Message></Error>' },
      /403 .*may/,
    ],
    ['a bucket that is not there', { status: 404, body: '<Error><Code>NoSuchBucket</Code></Error>' }, /Make the bucke/],
  ];

  describe.each(faults)('and answers %s', (title, fault, message) => {
    // Removing an object is answered with 204.
    const failing = operations.filter(([name]) => name !== 'remove' || !title.startsWith('204'));
    it.each(failing)('fails to %s, with a sentence', async (_name, operate) => {
      server.meet(() => fault);
      const error: unknown = await operate(store).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'store_failed', message: expect.stringMatching(message) as string });
      expect(String(error)).toMatch(/^ArchiveError: The archive s3:\/\/decisions\/[0-9a-f-]+\/ did not /);
      expect(String(error)).not.toMatch(/s3cr3t|Welcome/);
    });
  });

  it.each(operations)('and recovers at the next attempt: %s succeeds', async (_name, operate) => {
    server.meet(({ before }) => (before === 0 ? { status: 503 } : 'pass'));
    await operate(store);
    server.meet(({ before }) => (before === 0 ? 'lose answer' : 'pass'));
    await operate(store);
  });

  it.each(operations)('and does not answer: %s fails at its deadline', async (_name, operate) => {
    const hasty = await openS3Store(readS3Address(new URL(server.url())), { deadlineMs: 50, pauseMs: 5 });
    server.meet(() => 'hang');
    await expect(operate(hasty)).rejects.toThrow(/did not answer within \d+ ms \(3 attempts\)/);
  });

  it('and receives half of an object: the object does not exist', async () => {
    server.meet(({ method }) => (method === 'PUT' ? 'half' : 'pass'));
    const path = await fileOf('1234567890');
    await expect(store.putFile('half', path)).rejects.toThrow(/did not keep "half"/);
    await expect(store.create('half', '1234567890')).rejects.toThrow(/did not make "half"/);
    expect(await store.read('half')).toBeUndefined();
  });

  it('and answers half of an object: nothing is read', async () => {
    server.meet(() => 'cut');
    await expect(store.read('kept')).rejects.toThrow(/did not give "kept"/);
    await expect(store.readRange('kept', 0, 6)).rejects.toThrow(/did not give bytes 0 to 6 of "kept"/);
    await expect(listed(store, 'folder/')).rejects.toThrow(/did not list "folder\/"/);
    server.meet(({ before }) => (before === 0 ? 'cut' : 'pass'));
    expect(await store.read('kept')).toBe('of one');
  });

  it('and answers another object: the text is refused', async () => {
    server.meet(() => ({ change: (body) => body.replace('one', 'two') }));
    await expect(store.read('kept')).rejects.toThrow(/6 bytes that differ from those that were stored/);
  });

  it('and ignores ranges: the whole object is not taken for a part', async () => {
    server.meet(() => ({ headers: { range: undefined } }));
    await expect(store.readRange('kept', 0, 2)).rejects.toThrow(/answered 200, without the range/);
    await expect(store.readRange('kept', 0, 6)).rejects.toThrow(/answered 200, without the range/);
  });

  it('and lists without end, or out of order, or without sizes: the list is refused', async () => {
    for (const key of ['l/1', 'l/2']) await store.create(key, key);
    const refused: readonly [(body: string) => string, RegExp][] = [
      [(body) => body.replace('<IsTruncated>false', '<IsTruncated>true'), /without a continuation token/],
      [(body) => body.replace('l/1', 'l/3'), /out of order/],
      [(body) => body.replaceAll(/<Size>\d+<\/Size>/g, ''), /lack a name or a size/],
      [(body) => body.replace(/<Prefix>[^<]*/, '<Prefix>other'), /other than a list of these objects/],
    ];
    for (const [change, message] of refused) {
      server.meet(() => ({ change }));
      await expect(listed(store, 'l/')).rejects.toThrow(message);
    }
  });

  it('and loses the answer to a creation: only the creator learns that it made the object', async () => {
    server.meet(({ method, before }) => (method === 'PUT' && before === 0 ? 'lose answer' : 'pass'));
    expect(await store.create('mine', 'same')).toBe(true);
    server.meet(({ method, before }) => (method === 'PUT' && before === 0 ? 'lose answer' : 'pass'));
    expect(await store.create('mine', 'same')).toBe(false);
  });

  it('and replaces objects despite the condition: nothing is made', async () => {
    const careless = await openObjectStore(server.url());
    server.meet(() => ({ headers: { 'if-none-match': undefined } }));
    await expect(careless.create('x', 'x')).rejects.toThrow(/replaces objects in spite of the condition/);
    expect(await careless.read('x')).toBeUndefined();
    server.meet(() => 'pass');
    expect(await careless.create('x', 'x')).toBe(true);
  });

  describe('in the middle of a file of several parts', () => {
    const isPart = (path: string, part: number) => path.includes(`partNumber=${part}`);
    const isCompletion = (method: string, path: string) => method === 'POST' && path.includes('uploadId=');
    const content = Buffer.alloc(9 * 1024 * 1024, 'x');

    it('leaves no object when a part is refused, and aborts the upload', async () => {
      server.meet(({ path }) => (isPart(path, 2) ? { status: 503 } : 'pass'));
      await expect(store.putFile('parts', await fileOf(content))).rejects.toThrow(/did not keep "parts"/);
      expect(server.asked.at(-1)).toMatchObject({ method: 'DELETE' });
      expect(await store.read('parts')).toBeUndefined();
    });

    it('treats 200 with an error at the end as a failure', async () => {
      const body = '<?xml version="1.0"?><Error><Code>InternalError</Code></Error>';
      server.meet(({ method, path }) => (isCompletion(method, path) ? { status: 200, body } : 'pass'));
      await expect(store.putFile('parts', await fileOf(content))).rejects.toThrow(/did not keep "parts"/);
      expect(await store.read('parts')).toBeUndefined();
    });

    it('repeats the part or the completion whose answer was lost', async () => {
      server.meet(({ method, path, before }) =>
        before === 0 && (isPart(path, 1) || isCompletion(method, path)) ? 'lose answer' : 'pass',
      );
      await store.putFile('parts', await fileOf(content));
      expect((await store.readRange('parts', 0, content.length)).equals(content)).toBe(true);
    });
  });
});

describe('the URL of an archive', () => {
  it('may name everything but credentials', () => {
    const url = 's3://a-bucket/one/two/?endpoint=https://objects.example:9000/&region=eu-central-1&path-style=true';
    expect(readS3Address(new URL(url))).toEqual({
      ...{ bucket: 'a-bucket', prefix: 'one/two/', endpoint: 'https://objects.example:9000', region: 'eu-central-1' },
      isPathStyle: true,
    });
    expect(readS3Address(new URL('s3://a-bucket'))).toEqual({
      ...{ bucket: 'a-bucket', prefix: '', endpoint: undefined, region: undefined, isPathStyle: false },
    });
  });

  it.each([
    ['s3://user:secret@bucket/x', /user or a password/],
    ['s3://bucket:80/x', /port/],
    ['s3://B/x', /no name of a bucket/],
    ['s3:///x', /no name of a bucket/],
    ['s3://bucket/a//b', /prefix/],
    ['s3://bucket/a%00b', /prefix/],
    ['s3://bucket/x?key=secret', /parameter "key"/],
    ['s3://bucket/x?region=a&region=b', /parameter "region"/],
    ['s3://bucket/x?region=A!', /region/],
    ['s3://bucket/x?path-style=yes', /path-style/],
    ['s3://bucket/x?endpoint=ftp://x', /endpoint/],
    ['s3://bucket/x?endpoint=https://user:secret@x', /endpoint/],
    ['ftp://x', /file:\/\/\/path of a folder, or s3:/],
  ])('is refused as %s', async (url, message) => {
    const error: unknown = await openObjectStore(url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'not_opened', message: expect.stringMatching(message) as string });
    expect(String(error)).not.toContain('secret');
  });

  it('is refused if no region is known', async () => {
    const before = process.env['AWS_CONFIG_FILE'];
    process.env['AWS_CONFIG_FILE'] = '/dev/null';
    await expect(openObjectStore('s3://bucket/x')).rejects.toThrow(/Add region=NAME/);
    if (before === undefined) delete process.env['AWS_CONFIG_FILE'];
    else process.env['AWS_CONFIG_FILE'] = before;
  });
});
