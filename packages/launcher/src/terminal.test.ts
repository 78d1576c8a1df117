import { welcome } from './terminal';

const rule = { slug: 'shipping-price', sampleRequest: { weight: 1 } };

it('says where the service is, with which key, and where every call is shown', () => {
  const text = welcome('http://127.0.0.1:8080', 'dsk_key', [{ file: 'shipping-price.json', rule }]);
  expect(text).toContain('ready at http://127.0.0.1:8080\nAPI key: dsk_key');
  expect(text).toContain('http://127.0.0.1:8080/api/docs');
  expect(text).toContain('http://127.0.0.1:8080/api/openapi.json');
  expect(text).toContain('docs/tutorial.md');
  expect(text).toContain(`-d '{"weight":1}'`);
});

it('needs no example', () => {
  expect(welcome('http://127.0.0.1:8080', 'dsk_key', [])).toContain('/api/docs');
});
