import { listRules, type Operation, operations } from '@decision/contracts';
import { type Identity } from '../api-keys/authenticator';
import { Answer } from './answer';
import { bindOperation, createQueryReader } from './bind-operation';
import { type RequestContext } from './request-context';

describe('a bound operation', () => {
  const identity: Identity = {
    actor: 'k',
    workspaceId: 'w',
    role: 'r',
    entitlements: new Set(),
    userGroups: undefined,
  };
  const context = {} as RequestContext; // handed through, never looked at

  async function* noPieces(): AsyncGenerator<Buffer> {
    await Promise.resolve();
    yield Buffer.from('{}\n');
  }

  const raw = (body: unknown) => ({
    identity,
    params: {},
    query: '',
    context,
    header: () => undefined,
    hasBody: () => body !== undefined,
    readBody: () => Promise.resolve(Buffer.from(JSON.stringify(body))),
    readPieces: () => noPieces(),
  });

  it.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s is bound, and accepts its own example',
    async (_id, operation) => {
      const bound = bindOperation(operation, ({ body }) => Promise.resolve(new Answer(body)));
      const example = operation.body?.example;
      const required = (operation.query as { required?: string[] } | undefined)?.required ?? [];
      const query = required.map((name) => `${name}=5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11`).join('&');
      expect((await bound.answer({ ...raw(example), query })).body).toEqual(example);
    },
  );

  it('can be bound twice', () => {
    for (const operation of operations) {
      expect(bindOperation(operation, () => Promise.resolve(new Answer({}))).operation).toBe(operation);
    }
  });

  it.each(operations.filter(({ body }) => body !== undefined).map((operation) => [operation.id, operation] as const))(
    '%s refuses a body that is not an object',
    async (_id, operation) => {
      const bound = bindOperation(operation, () => Promise.resolve(new Answer({})));
      await expect(bound.answer(raw(5))).rejects.toMatchObject({ code: 'invalid_request' });
    },
  );
});

describe('a query', () => {
  const closed = createQueryReader(listRules.query);
  const lists = createQueryReader({
    type: 'object',
    properties: { tag: { type: 'array', items: { type: 'string' } }, one: { type: 'string' } },
    additionalProperties: false,
  } as unknown as NonNullable<Operation['query']>); // contracts have no query with a list today

  /** The result, with the usual prototype. */
  const plain = (values: unknown): object => Object.fromEntries(Object.entries(values as object)); // a query is an object

  const problems = (query: string): unknown => {
    try {
      closed(query);
    } catch (error) {
      return (error as { details: { problems: unknown } }).details.problems;
    }
    return [];
  };

  it.each([
    ['', {}],
    ['&&', {}],
    ['slug=a', { slug: 'a' }],
    ['slug=a+b%26c%3D', { slug: 'a b&c=' }],
    ['slug=a=b', { slug: 'a=b' }],
    ['slug', { slug: '' }],
    ['slug=%F0%9F%98%80&limit=5', { slug: '😀', limit: '5' }],
  ])('reads %j', (query, values) => {
    expect({ ...closed(query) }).toEqual(values);
  });

  it.each([
    ['unknown=1', 'has an unknown field "unknown"', ''],
    ['slug=a&slug=b', 'must be given only once', '/slug'],
    ['slug=%zz', 'cannot be decoded', '/slug'],
    ['%zz=1', 'cannot be decoded', ''],
    ['slug=a%00b', 'holds a NUL character', '/slug'],
    ['limit=ten', 'must match pattern "^[0-9]+$"', '/limit'],
    ['__proto__=1', 'has an unknown field "__proto__"', ''],
    ['constructor=1', 'has an unknown field "constructor"', ''],
    ['a/b~c=1&a/b~c=2', 'must be given only once', '/a~1b~0c'],
  ])('refuses %j: it %s', (query, message, path) => {
    expect(problems(query)).toEqual([{ in: 'query', path, message }]);
  });

  it('lists every problem', () => {
    expect(problems('slug=%zz&id=1&id=2')).toHaveLength(2);
  });

  it('collects a repeatable parameter, given once or often', () => {
    expect(plain(lists('tag=a'))).toEqual({ tag: ['a'] });
    expect(plain(lists('tag=a&one=x&tag=b'))).toEqual({ tag: ['a', 'b'], one: 'x' });
  });
});
