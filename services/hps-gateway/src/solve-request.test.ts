import { parseSolvePath } from './solve-request';

it.each([
  ['/api/v1/solve/price', { slug: 'price', selector: 'latest', explain: 'none' }],
  ['/api/v1/solve/price/', { slug: 'price', selector: 'latest', explain: 'none' }],
  ['/api/v1/solve/price/latest', { slug: 'price', selector: 'latest', explain: 'none' }],
  ['/api/v1/solve/price/12', { slug: 'price', selector: '12', explain: 'none' }],
  ['/api/v1/solve/price?explain=true', { slug: 'price', selector: 'latest', explain: 'brief' }],
  ['/api/v1/solve/price/3?x=1&explain=all', { slug: 'price', selector: '3', explain: 'all' }],
  ['/api/v1/solve/price?explain=false', { slug: 'price', selector: 'latest', explain: 'none' }],
  ['/api/v1/bulk-solve/price?explain=all', { slug: 'price', selector: 'latest', explain: 'all', bulk: true }],
  ['/api/v1/bulk-solve/price/4', { slug: 'price', selector: '4', named: true, bulk: true }],
  ['/api/v1/flows/price', { asset: 'flow', slug: 'price', selector: 'latest', bulk: false, named: false }],
  ['/api/v1/flows/price/4?explain=true', { asset: 'flow', selector: '4', explain: 'brief', named: true }],
  ['/api/v1/solve/flows', { asset: 'rule', slug: 'flows' }],
  ['/api/v1/solve/pr%2Dice', { slug: 'pr-ice', selector: 'latest', explain: 'none' }],
])('reads %s', (url, expected) => {
  expect(parseSolvePath(url)).toMatchObject(expected);
});

it.each([
  '/',
  '/api/v1/solve',
  '/api/v1/solve/',
  '/api/v1/solve//latest',
  '/api/v1/solve/a/b/c',
  '/api/v1/solver/a',
  '/api/v1/bulk-solve/',
  '/api/v1/flows',
  '/api/v1/flows/',
  '/api/v1/flows/a/b/c',
  '/api/v1/bulk-solve/a/b/c',
  '/api/v1/solve/a//',
])('does not match %s', (url) => {
  expect(parseSolvePath(url)).toBeUndefined();
});

it.each([
  ['/api/v1/solve/%zz', 'invalid_url'],
  ['/api/v1/solve/%ff', 'invalid_url'],
  [`/api/v1/solve/${'a'.repeat(201)}`, 'invalid_url'],
  ['/api/v1/solve/a?explain=yes', 'invalid_request'],
  ['/api/v1/solve/a?explain=__proto__', 'invalid_request'],
])('refuses %s with %s', (url, code) => {
  expect(() => parseSolvePath(url)).toThrow(expect.objectContaining({ code }));
});
