import { CacheSettingsError, resolveSettings } from './cache-settings';

describe('resolveSettings', () => {
  it.each([undefined, ''])('treats the URL %p as no cache', (url) => {
    expect(resolveSettings({ url, keyPrefix: '' })).toMatchObject({
      address: undefined,
      channel: 'service:cache:invalidate',
    });
  });

  it('fills in the documented defaults', () => {
    expect(resolveSettings({ url: 'redis://h', keyPrefix: 'a:' })).toMatchObject({
      keyPrefix: 'a:',
      commandTimeoutMs: 100,
      connectTimeoutMs: 2_000,
      heartbeatMs: 5_000,
      circuitOpenMs: 1_000,
      eraseRetryMs: 1_000,
    });
  });

  it('prefixes the channel only when a prefix is set', () => {
    expect(resolveSettings({ url: undefined, keyPrefix: 'a:', channelPrefix: 't1.' }).channel).toBe(
      't1.service:cache:invalidate',
    );
  });

  it('reports every fault at once, and no secret', () => {
    const resolve = (): unknown =>
      resolveSettings({
        url: 'http://:secret@h',
        keyPrefix: '',
        commandTimeoutMs: 0,
        connectTimeoutMs: 60_001,
        heartbeatMs: NaN,
      });
    expect(resolve).toThrow(CacheSettingsError);
    expect(resolve).toThrow(/redis:\/\/.*commandTimeoutMs.*connectTimeoutMs.*heartbeatMs/);
    expect(resolve).not.toThrow(/secret/);
  });

  it.each([1, 10_000])('accepts a value at its bound: %d ms', (commandTimeoutMs) => {
    expect(resolveSettings({ url: undefined, keyPrefix: '', commandTimeoutMs }).commandTimeoutMs).toBe(
      commandTimeoutMs,
    );
  });
});
