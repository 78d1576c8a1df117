import { slugOf } from './slug';

it.each([
  ['Shipping price', 'shipping-price'],
  ['  Ünïcode & Größe!  ', 'unicode-gro-e'],
  ['日本', ''],
  ['', ''],
  ['a'.repeat(200), 'a'.repeat(80)],
  [`${'a'.repeat(79)} b`, 'a'.repeat(79)],
  ['--x--', 'x'],
])('the slug of %j is %j', (name, slug) => {
  expect(slugOf(name, 80)).toBe(slug);
});
