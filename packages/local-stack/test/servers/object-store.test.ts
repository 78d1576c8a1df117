import { type RunningObjectStore, startObjectStore } from '../../src';
import { isAlive } from '../process-state';
import { downloads, removeTemporaryDirectories, temporaryDirectory } from '../temporary-directory';

describe('the object store of tests', () => {
  let store: RunningObjectStore;

  beforeAll(async () => {
    store = await startObjectStore({ directory: temporaryDirectory(), downloads });
  }, 360_000);

  afterAll(async () => {
    await store?.stop();
    removeTemporaryDirectories();
  });

  const object = (): string => `${store.endpoint}/${store.bucket}/folder/name`;

  it('keeps objects when its process is killed and started again', async () => {
    expect((await fetch(object(), { method: 'PUT', body: 'kept' })).status).toBe(200);
    await store.control.kill();
    await expect(fetch(object())).rejects.toThrow();
    await store.control.start();
    expect(await (await fetch(object())).text()).toBe('kept');
  }, 60_000);

  it('makes an object only if there is none, when requested', async () => {
    const put = () => fetch(object(), { method: 'PUT', body: 'other', headers: { 'if-none-match': '*' } });
    expect((await put()).status).toBe(412);
    expect(await (await fetch(object())).text()).toBe('kept');
  });

  it('stops with nothing left running', async () => {
    const pid = store.control.pid() ?? 0;
    expect(isAlive(pid)).toBe(true);
    await store.stop();
    expect(isAlive(pid)).toBe(false);
  }, 60_000);
});
