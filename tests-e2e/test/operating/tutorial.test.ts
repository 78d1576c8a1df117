import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorCode, errorCodes, operations } from '@decision/contracts';
import { repositoryRoot } from '../fleet/fleet-under-test';
import { enterOwnWorkspace, type SharedFleet } from '../fleet/shared-fleet';

let fleet: SharedFleet;

beforeAll(async () => {
  fleet = await enterOwnWorkspace();
}, 360_000);

interface Step {
  readonly method: string;
  readonly path: string;
  /** Name of the shell variable that holds the key. */
  readonly key: string;
  readonly body: unknown;
  readonly answer: object;
}

const page = readFileSync(join(repositoryRoot, 'docs/tutorial.md'), 'utf8');

/** Every `curl` of the page, with the answer below it. */
const steps: readonly Step[] = [...page.matchAll(/```sh\n(curl(?:(?!```)[^])*)```\n\n```json\n([^]*?)\n```/g)].map(
  ([, command = '', answer = '']) => {
    const [, path = ''] = /"\$URL(\/[^"]+)"/.exec(command) ?? [];
    const [, key = ''] = /-H "x-api-key: \$(\w+)"/.exec(command) ?? [];
    const [, body] = /-d '([^']*)'/.exec(command) ?? [];
    const [, method = body === undefined ? 'GET' : 'POST'] = /-X (\w+)/.exec(command) ?? [];
    return { method, path, key, body: body && (JSON.parse(body) as unknown), answer: JSON.parse(answer) as object };
  },
);

/** The status that the API documents for such an answer. */
const statusOf = ({ method, path, answer }: Step): number | undefined => {
  if ('code' in answer) return errorCodes[answer.code as ErrorCode].status;
  const isCalled = (template: string): boolean => new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  return operations.find((one) => one.method === method.toLowerCase() && isCalled(one.path))?.success.status;
};

it('leaves no command of the page out', () => {
  expect(steps).toHaveLength(page.match(/^curl /gm)?.length ?? 0);
  expect(new Set(steps.map(({ path }) => path.split('/').slice(3, 5).join('/')))).toEqual(
    new Set([
      ...['values', 'objects', 'admin/contexts', 'admin/rules', 'solve/consignment-price', 'contexts/consignments'],
      ...['admin/environments', 'admin/releases', 'admin/keys'],
    ]),
  );
});

it('every command of the tutorial is answered as it says, in their order', async () => {
  const keys = new Map([['KEY', fleet.apiKey]]);
  for (const step of steps) {
    const { method, path, key, body, answer } = step;
    const answered = await fleet.call(method, path, body, { 'x-api-key': keys.get(key) ?? '' });
    expect({ path, ...answered }).toMatchObject({ path, status: statusOf(step), body: answer });
    const { api_key: made } = answered.body as { readonly api_key?: string };
    if (made !== undefined) keys.set('SHOP', made);
  }
});
