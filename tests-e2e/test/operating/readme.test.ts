import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '@decision/local-stack';
import { repositoryRoot } from '../fleet/fleet-under-test';
import { enterExampleWorkspace, type SharedFleet } from '../fleet/shared-fleet';

let fleet: SharedFleet;

beforeAll(async () => {
  fleet = await enterExampleWorkspace();
}, 360_000);

interface Shown {
  readonly path: string;
  /** Undefined: the `curl` sends no body, and is a GET. */
  readonly body: unknown;
  readonly answer: object;
}

/** Every `curl` of a page, with the answer below it. */
const readShown = (page: string): readonly Shown[] => {
  const text = readFileSync(join(repositoryRoot, page), 'utf8');
  return [...text.matchAll(/```sh\n((?:(?!```)[^])*?curl(?:(?!```)[^])*?)\n```\n\n```json\n([^]*?)\n```/g)].map(
    ([, command = '', answer = '']) => {
      const [, path = ''] = /http:\/\/127\.0\.0\.1:8080(\/\S+)/.exec(command) ?? [];
      const [, body] = /-d '([^']*)'/.exec(command) ?? [];
      return { path, body: body && (JSON.parse(body) as unknown), answer: JSON.parse(answer) as object };
    },
  );
};

it('every command of the README and of the examples is answered as they say, in their order', async () => {
  const shown = ['README.md', 'examples/README.md'].flatMap(readShown);
  expect(shown.map(({ path }) => path)).toEqual([
    '/api/v1/solve/shipping-price',
    ...['/api/v1/contexts/orders/o-1', '/api/v1/contexts/orders/o-1', '/api/v1/flows/order-pricing'],
    '/api/v1/contexts/baskets/b-1',
    ...['/api/v1/contexts/customers/c-1', '/api/v1/contexts/orders/o-2', '/api/v1/contexts/customers/c-1'],
    ...['/api/v1/flows/order-pricing', '/api/v1/flows/loan-decision'],
  ]);
  for (const { path, body, answer } of shown) {
    expect(await fleet.call(body === undefined ? 'GET' : 'POST', path, body)).toMatchObject({
      status: 200,
      body: answer,
    });
  }
});

it('one call finds the decision of the README again, seconds after it was made', async () => {
  const search = encodeURIComponent('request.destination.country = DE');
  const query = `/api/v1/decisions/query?search=${search}&limit=1`;
  const found = async () => (await fleet.call('GET', query)).body as { readonly data?: readonly object[] };
  await waitUntil(async () => (await found()).data?.length === 1, 'the decision is stored');
  expect(await found()).toMatchObject({
    data: [{ name: expect.any(String) as string, status: 200, request: { destination: { country: 'DE' } } }],
  });
}, 90_000);
