import fc from 'fast-check';
import { compileValidator } from '@decision/contracts';
import { decodeEnvelope, encodeEnvelope } from './envelope';

const NOW = 1_763_701_200_000;
const anything = compileValidator({} as never);
const numberOnly = compileValidator({ type: 'number' } as never);

describe('an envelope', () => {
  it('brings back any JSON value and its time', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: NOW }), (value, loadedAt) => {
        const text = encodeEnvelope({ value, loadedAt });
        // -0 is 0 in JSON.
        expect(JSON.stringify(decodeEnvelope(text ?? '', anything, NOW))).toBe(JSON.stringify({ value, loadedAt }));
      }),
    );
  });

  it('makes a value no younger than it is', () => {
    expect(encodeEnvelope({ value: 1, loadedAt: 1_000.9 })).toBe('c1 1000 1');
  });

  it.each([
    ['undefined', undefined],
    ['a big integer', 1n],
    ['a function', () => 1],
  ])('refuses %s', (_name, value) => {
    expect(encodeEnvelope({ value, loadedAt: 0 })).toBeUndefined();
  });

  it('refuses a value that contains itself', () => {
    const value: Record<string, unknown> = {};
    value['self'] = value;
    expect(encodeEnvelope({ value, loadedAt: 0 })).toBeUndefined();
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
    expect(decodeEnvelope(text, numberOnly, NOW)).toBeUndefined();
  });

  it('never throws, whatever it finds', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        decodeEnvelope(text, numberOnly, NOW);
        decodeEnvelope(`c1 1000 ${text}`, numberOnly, NOW);
      }),
    );
  });

  it('allows for clocks that differ by up to a minute', () => {
    expect(decodeEnvelope(`c1 ${NOW + 60_000} 1`, numberOnly, NOW)).toEqual({ value: 1, loadedAt: NOW + 60_000 });
  });
});
