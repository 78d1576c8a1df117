import { compareTemplates, createAllowedMethods, parseTemplate } from './route-table';

const allowed = createAllowedMethods([
  { method: 'get', path: '/values/{id}' },
  { method: 'delete', path: '/values/{id}' },
  { method: 'post', path: '/values/sync' },
  { method: 'put', path: '/objects' },
  {
    method: 'get',
    path: '/objects/{name}',
    pathParameters: [{ name: 'name', description: '', example: '', spansSlashes: true }],
  },
]);

it.each([
  ['/values/7', ['GET', 'DELETE', 'HEAD', 'OPTIONS']],
  ['/values/sync', ['GET', 'DELETE', 'POST', 'HEAD', 'OPTIONS']],
  ['/objects', ['PUT', 'OPTIONS']],
  ['/objects/', ['PUT', 'OPTIONS']],
  ['/objects/a', ['GET', 'HEAD', 'OPTIONS']],
  ['/objects/a/b', ['GET', 'HEAD', 'OPTIONS']],
  ['/objects/a//b', ['GET', 'HEAD', 'OPTIONS']],
  ['/values/', []],
  ['/values', []],
  ['/values/7/8', []],
  ['/values//', []],
  ['//objects', []],
  ['/OBJECTS', []],
  ['/', []],
  ['*', []],
])('%s allows %j', (path, methods) => {
  expect(allowed(path)).toEqual(methods);
});

it('tries literal segments before parameters, from the left, and otherwise keeps the order', () => {
  const ordered = ['/a/{x}/c', '/a/{x}/{y}', '/{w}/b', '/a/b', '/b/c']
    .map((text) => parseTemplate(text))
    .sort(compareTemplates)
    .map(({ text }) => text);
  expect(ordered).toEqual(['/a/b', '/b/c', '/a/{x}/c', '/a/{x}/{y}', '/{w}/b']);
});
