import fc from 'fast-check';
import { type Change } from './change';
import { HIDDEN, maskSecrets, toStoredChange } from './stored-change';

const change = (parts: Partial<Change>): Change => ({
  kind: 'rule',
  action: 'update',
  id: '1',
  name: 'parcel',
  ...parts,
});
const read = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

describe('toStoredChange', () => {
  it('keeps of an update only the fields that differ, and no bookkeeping', () => {
    const stored = toStoredChange(
      change({
        before: { name: 'a', labels: ['x'], gone: 1, updatedAt: '1' },
        after: { name: 'b', labels: ['x'], come: 2, updatedAt: '2' },
      }),
    );
    expect([read(stored.before), read(stored.after)]).toEqual([
      { name: 'a', gone: 1 },
      { name: 'b', come: 2 },
    ]);
  });

  it('keeps complete requests and answers', () => {
    expect(read(toStoredChange(change({ after: { a: 1 } })).after)).toEqual({ a: 1 });
    expect(toStoredChange(change({ after: { a: 1 } })).before).toBeNull();
    expect(read(toStoredChange(change({ before: { a: 1 }, after: null })).before)).toEqual({ a: 1 });
  });

  it('shows that a secret changed but never what it was or is', () => {
    const stored = toStoredChange(change({ before: { password: 'one', a: 1 }, after: { password: 'two', a: 1 } }));
    expect([read(stored.before), read(stored.after)]).toEqual([{ password: HIDDEN }, { password: HIDDEN }]);
  });

  it('hides the content of what is called like a secret', () => {
    expect(
      read(toStoredChange(change({ name: 'mail.api_key', after: { content: 'x', type: 'string' } })).after),
    ).toEqual({ content: HIDDEN, type: 'string' });
  });

  it('leaves large fields out, with size and hash', () => {
    const stored = toStoredChange(change({ after: { rows: 'x'.repeat(70_000), a: 1 } }));
    expect(read(stored.after)).toEqual({
      rows: { omitted_bytes: 70_002, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      a: 1,
    });
  });

  it('makes names that the database takes', () => {
    const odd = change({ name: `\ud800\u0000${'x'.repeat(1_000)}`, id: '\u0000', userGroups: ['\udfff', 'ü'] });
    const { name, id, userGroups } = toStoredChange(odd);
    expect(userGroups).toEqual(['\ufffd', 'ü']);
    expect(name).toBe(`\ufffd\ufffd${'x'.repeat(498)}`);
    expect(id).toBe('\ufffd');
  });

  it('writes JSON of any document, without a secret that stands in it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (document, secret) => {
        const hidden = `s3cr3t-${secret}`;
        const after = { ...document, nested: [{ clientSecret: hidden, list: [{ Password: hidden }] }] };
        const stored = toStoredChange(change({ before: document, after }));
        expect(read(stored.after)).toEqual(expect.anything());
        expect(stored.after).not.toContain(JSON.stringify(hidden));
      }),
    );
  });
});

describe('maskSecrets', () => {
  it.each<[unknown, unknown]>([
    [`dsk_0123456789ab_${'A'.repeat(43)} is it`, `${HIDDEN} is it`],
    ['postgres://me:pass@host/db', `postgres://me:${HIDDEN}@host/db`],
    ['eyJhbGciOi.eyJzdWIi.abc', HIDDEN],
    [{ apiKey: 1, api_key: 2, 'x-api-key': 3, private_key: null }, { apiKey: HIDDEN, api_key: HIDDEN, 'x-api-key': HIDDEN, private_key: null }], // prettier-ignore
    [
      { weight: 1, note: 'plain' },
      { weight: 1, note: 'plain' },
    ],
  ])('%j becomes %j', (value, masked) => {
    expect(maskSecrets(value)).toEqual(masked);
  });

  it('hides what lies too deep to look at', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 5_000; level += 1) deep = [deep];
    expect(JSON.stringify(maskSecrets(deep))).toContain(HIDDEN);
  });
});
