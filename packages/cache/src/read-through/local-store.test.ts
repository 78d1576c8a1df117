import { createLocalStore, type LocalStoreOptions } from './local-store';

const make = (options: Partial<LocalStoreOptions<string>> = {}) =>
  createLocalStore<string>({ maxEntries: 3, maxBytes: undefined, sizeOf: undefined, ...options });
const until = Infinity;

describe('the local store', () => {
  it('expires an entry at its time, not before', () => {
    const store = make();
    store.put('a', { value: 'A', until: 100 });
    expect(store.get('a', 99)?.value).toBe('A');
    expect(store.get('a', 100)).toBeUndefined();
    expect(store.size()).toBe(0);
  });

  it('evicts the least recently used', () => {
    const store = make();
    for (const key of ['a', 'b', 'c']) store.put(key, { value: key, until });
    store.get('a', 0);
    store.put('d', { value: 'd', until });
    expect(['a', 'b', 'c', 'd'].filter((key) => store.get(key, 0))).toEqual(['a', 'c', 'd']);
  });

  it('does not let absences evict values', () => {
    const store = make();
    store.put('a', { value: 'A', until });
    for (let index = 0; index < 100; index += 1) store.put(`none-${index}`, { value: undefined, until });
    expect(store.get('a', 0)?.value).toBe('A');
    expect(store.size()).toBe(4);
  });

  it.each([
    ['a value', 'A', 'an absence', undefined],
    ['an absence', undefined, 'a value', 'A'],
  ])('replaces %s (%p) by %s', (_before, first, _after, second) => {
    const store = make();
    store.put('a', { value: first, until });
    store.put('a', { value: second, until });
    expect(store.get('a', 0)).toEqual({ value: second, until });
    expect(store.size()).toBe(1);
  });

  it('bounds the weight of all entries, keys included', () => {
    const store = make({ maxEntries: 100, maxBytes: 30, sizeOf: (value) => value.length });
    store.put('a', { value: 'x'.repeat(10), until });
    store.put('b', { value: 'x'.repeat(10), until });
    expect(store.size()).toBe(2);
    store.put('c', { value: 'x'.repeat(10), until });
    expect(['a', 'b', 'c'].filter((key) => store.get(key, 0))).toEqual(['b', 'c']);
  });

  it('does not keep a value above the bound, nor the one it replaces', () => {
    const store = make({ maxBytes: 10, sizeOf: (value) => value.length });
    store.put('a', { value: 'x', until });
    store.put('a', { value: 'x'.repeat(11), until });
    expect(store.get('a', 0)).toBeUndefined();
  });

  it.each([0, -1, 0.5])('accepts a weight of %d', (weight) => {
    const store = make({ maxBytes: 10, sizeOf: () => weight });
    store.put('a', { value: 'A', until });
    expect(store.get('a', 0)?.value).toBe('A');
  });

  it('forgets one key, or all', () => {
    const store = make();
    store.put('a', { value: 'A', until });
    store.put('b', { value: undefined, until });
    store.delete('a');
    expect(store.get('a', 0)).toBeUndefined();
    store.clear();
    expect(store.size()).toBe(0);
  });
});
