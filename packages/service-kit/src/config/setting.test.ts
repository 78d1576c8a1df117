import { limits } from '@decision/contracts';
import { flag, limit, list, oneOf, optional, port, secret, type Setting, text, url, wholeNumber } from './setting';

describe('settings of one value', () => {
  const meaning = 'What it is for.';
  const faultOf = (setting: Setting<unknown>, value: string | undefined): string => {
    const reading = setting.read(value);
    return reading.ok ? `accepted ${JSON.stringify(reading.value)}` : reading.fault;
  };

  describe('whole numbers', () => {
    const count = wholeNumber('COUNT', { min: -5, max: 10, meaning });

    it.each([
      ['-5', -5],
      ['10', 10],
      ['0', 0],
      ['007', 7],
    ])('accept %j', (value, number) => {
      expect(count.read(value)).toEqual({ ok: true, value: number });
    });

    it.each([
      ['-6', 'is below -5'],
      ['11', 'is above 10'],
      ['1.0', 'is not a whole number'],
      ['1e1', 'is not a whole number'],
      ['0x1', 'is not a whole number'],
      [' 1', 'is not a whole number'],
      ['1 ', 'is not a whole number'],
      ['1\n', 'is not a whole number'],
      ['+1', 'is not a whole number'],
      ['٣', 'is not a whole number'],
      ['Infinity', 'is not a whole number'],
      ['9'.repeat(400), 'is not a whole number'],
      ['', 'is not set'],
      [undefined, 'is not set'],
    ])('refuse %.20j: it %s', (value, fault) => {
      expect(faultOf(count, value)).toBe(fault);
    });
  });

  it.each(Object.values(limits).map((each) => [each.env, each] as const))('%s accepts its bounds', (_env, each) => {
    const setting = limit(each);
    expect(setting.read(undefined)).toEqual({ ok: true, value: each.defaultValue });
    expect(setting.read(String(each.min))).toEqual({ ok: true, value: each.min });
    expect(setting.read(String(each.max))).toEqual({ ok: true, value: each.max });
    expect(setting.read(String(each.min - 1)).ok).toBe(false);
    expect(setting.read(String(each.max + 1)).ok).toBe(false);
  });

  it.each([
    ['0', 'accepted 0'],
    ['65535', 'accepted 65535'],
    ['65536', 'is above 65535'],
    ['-1', 'is below 0'],
    ['', 'accepted 3000'],
  ])('a port %j: %s', (value, outcome) => {
    expect(faultOf(port('PORT', 3000), value)).toBe(outcome);
  });

  it.each([
    ['true', 'accepted true'],
    ['1', 'accepted true'],
    ['FALSE', 'accepted false'],
    ['0', 'accepted false'],
    ['', 'accepted true'],
    ['yes', 'is neither true nor false'],
    ['constructor', 'is neither true nor false'],
  ])('a flag that is on by default, %j: %s', (value, outcome) => {
    expect(faultOf(flag('ON', { default: true, meaning }), value)).toBe(outcome);
  });

  it.each([
    ['a', 'accepted "a"'],
    ['A', 'is none of these'],
    ['toString', 'is none of these'],
    ['', 'is not set'],
  ])('a choice %j: %s', (value, outcome) => {
    expect(faultOf(oneOf('MODE', ['a', 'b'], { meaning }), value)).toBe(outcome);
  });

  it('counts an empty text as not set, unless it is a value', () => {
    expect(faultOf(text('NAME', { default: 'x', meaning }), '')).toBe('accepted "x"');
    expect(faultOf(text('NAME', { default: 'x', emptyIsValue: true, meaning }), '')).toBe('accepted ""');
    expect(faultOf(text('NAME', { meaning }), '')).toBe('is not set');
    expect(faultOf(text('NAME', { pattern: /^a+$/, meaning }), 'b')).toBe('has another form');
  });

  it('checks the length of a secret, and masks it', () => {
    const setting = secret('PASSWORD', { minLength: 8, meaning });
    expect(faultOf(setting, 'hunter2')).toBe('has 7 characters');
    expect(faultOf(setting, 'hunter22')).toBe('accepted "[secret]"');
    expect(setting.required).toBe(true);
  });

  describe('lists', () => {
    const names = list('NAMES', { pattern: /^[a-z]+$/, items: 'names', meaning });

    it.each([
      ['a', 'accepted ["a"]'],
      [' a ,,b, ', 'accepted ["a","b"]'],
      [',', 'holds no item'],
      ['', 'is not set'],
      ['a,B,c', 'has another form at item 2'],
      [Array(1_000).fill('a').join(','), /^accepted/],
      [Array(1_001).fill('a').join(','), 'holds 1001 items, more than 1000'],
    ])('read %.30j', (value, outcome) => {
      expect(faultOf(names, value)).toEqual(typeof outcome === 'string' ? outcome : expect.stringMatching(outcome));
    });

    it('may be empty if that is the default', () => {
      expect(faultOf(list('NAMES', { default: [], meaning }), ' , ')).toBe('accepted []');
      expect(faultOf(list('NAMES', { default: ['a'], meaning }), ' , ')).toBe('holds no item');
    });
  });
});

describe('addresses', () => {
  const plain = url('SITE', { protocols: ['https', 'http'], meaning: 'A site.' });
  const hidden = url('STORE', { protocols: ['redis'], secret: true, meaning: 'A store.' });

  it.each(['https://example.org', 'http://[::1]:80/x'])('accepts %s', (text) => {
    expect(plain.read(text)).toEqual({ ok: true, value: text });
  });

  it.each(['example.org', '//example.org', 'ftp://example.org', 'javascript:alert(1)', 'https://', undefined, ''])(
    'refuses %j',
    (text) => {
      expect(plain.read(text)).toMatchObject({ ok: false });
    },
  );

  it('reads a secret address as a secret, refused or not', () => {
    const reading = hidden.read('redis://:hunter2@h');
    expect(reading.ok && reading.value.reveal()).toBe('redis://:hunter2@h');
    expect(JSON.stringify(reading)).not.toContain('hunter2');
    expect(JSON.stringify(hidden.read('http://:hunter2@h'))).not.toContain('hunter2');
  });

  it('may be left out if it is optional', () => {
    expect(optional(hidden).read(undefined)).toEqual({ ok: true, value: undefined });
    expect(optional(hidden).read('nonsense')).toMatchObject({ ok: false });
  });
});
