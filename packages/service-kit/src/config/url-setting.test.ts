import { optional } from './setting';
import { url } from './url-setting';

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

it('may be left out where it is optional', () => {
  expect(optional(hidden).read(undefined)).toEqual({ ok: true, value: undefined });
  expect(optional(hidden).read('nonsense')).toMatchObject({ ok: false });
});
