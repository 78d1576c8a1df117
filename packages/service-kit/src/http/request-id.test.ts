import { requestIdOf } from './request-id';

it.each(['a', 'Order-17_b.2', 'x'.repeat(128)])('keeps the sane id %s', (id) => {
  expect(requestIdOf(id)).toBe(id);
});

it.each([undefined, '', 'x'.repeat(129), 'a b', 'a\nb', 'a"b', 'ä', '<script>', ['a', 'b']])('replaces %j', (id) => {
  expect(requestIdOf(id)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});
