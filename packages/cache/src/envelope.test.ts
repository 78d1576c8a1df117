import fc from 'fast-check';
import { compileValidator } from '@decision/contracts';
import { createSeal, decodeEnvelope, encodeEnvelope } from './envelope';

const NOW = 1_763_701_200_000;
const anything = compileValidator({} as never);
const numberOnly = compileValidator({ type: 'number' } as never);

describe('an envelope', () => {
  it('round-trips any JSON value and its time', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: NOW }), (value, loadedAt) => {
        const text = encodeEnvelope('k', { value, loadedAt });
        // -0 is 0 in JSON.
        expect(JSON.stringify(decodeEnvelope('k', text ?? '', { validate: anything, now: NOW }))).toBe(
          JSON.stringify({ value, loadedAt }),
        );
      }),
    );
  });

  it('never makes a value look younger than it is', () => {
    expect(encodeEnvelope('k', { value: 1, loadedAt: 1_000.9 })).toBe('c1 1000 1');
  });

  it.each([
    ['undefined', undefined],
    ['a big integer', 1n],
    ['a function', () => 1],
  ])('refuses %s', (_name, value) => {
    expect(encodeEnvelope('k', { value, loadedAt: 0 })).toBeUndefined();
  });

  it('refuses a value that contains itself', () => {
    const value: Record<string, unknown> = {};
    value['self'] = value;
    expect(encodeEnvelope('k', { value, loadedAt: 0 })).toBeUndefined();
  });

  it.each([
    '',
    'c1',
    'c1 1000',
    'c1 1000 ',
    'c1 1000 {',
    'c1 -5 1',
    'c1 1e3 1',
    'c1 12345678901234567 1',
    ' c1 1000 1',
    'c2 1000 1',
    '1',
    '{"value":1,"loadedAt":1000}',
    'c1 1000 "text"',
    'c1 1000 null',
    `c1 ${NOW + 60_001} 1`,
  ])('takes %j for damaged', (text) => {
    expect(decodeEnvelope('k', text, { validate: numberOnly, now: NOW })).toBeUndefined();
  });

  it('never throws, for any input', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        decodeEnvelope('k', text, { validate: numberOnly, now: NOW });
        decodeEnvelope('k', `c1 1000 ${text}`, { validate: numberOnly, now: NOW });
      }),
    );
  });

  it('allows for clocks that differ by up to a minute', () => {
    expect(decodeEnvelope('k', `c1 ${NOW + 60_000} 1`, { validate: numberOnly, now: NOW })).toEqual({
      value: 1,
      loadedAt: NOW + 60_000,
    });
  });

  describe('with a seal', () => {
    const seal = createSeal(Buffer.alloc(32, 1));
    const reader = { validate: numberOnly, now: NOW, seal };
    const sealed = encodeEnvelope('k', { value: 42, loadedAt: 1_000 }, seal) ?? '';

    it('brings back what the same secret signed', () => {
      expect(sealed).toMatch(/^s1 [\w-]{43} 1000 42$/);
      expect(decodeEnvelope('k', sealed, reader)).toEqual({ value: 42, loadedAt: 1_000 });
    });

    it('refuses an entry without a signature', () => {
      expect(decodeEnvelope('k', 'c1 1000 42', reader)).toBeUndefined();
    });

    it('refuses an entry that another secret signed', () => {
      const forged = encodeEnvelope('k', { value: 42, loadedAt: 1_000 }, createSeal(Buffer.alloc(32, 2))) ?? '';
      expect(decodeEnvelope('k', forged, reader)).toBeUndefined();
    });

    it('refuses an entry that was signed for another key', () => {
      expect(decodeEnvelope('other', sealed, reader)).toBeUndefined();
    });

    it('refuses an entry with any one character changed', () => {
      for (let at = 0; at < sealed.length; at += 1) {
        const changed = `${sealed.slice(0, at)}${sealed[at] === '7' ? '8' : '7'}${sealed.slice(at + 1)}`;
        // The last character of a signature carries two bits that no byte uses; another character with the same four bits is the same
        // signature.
        if (
          Buffer.from(changed.slice(3, 46), 'base64url').equals(Buffer.from(sealed.slice(3, 46), 'base64url')) &&
          at >= 3 &&
          at < 46
        )
          continue;
        expect([at, decodeEnvelope('k', changed, reader)]).toEqual([at, undefined]);
      }
    });

    it('is damaged for a process without the secret', () => {
      expect(decodeEnvelope('k', sealed, { validate: numberOnly, now: NOW })).toBeUndefined();
    });
  });
});
