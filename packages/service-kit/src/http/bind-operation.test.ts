import { operations } from '@decision/contracts';
import { type Identity } from '../api-keys/authenticator';
import { Answer } from './answer/answer';
import { bindOperation } from './bind-operation';
import { type RequestContext } from './request-context';

const identity: Identity = { keyId: 'k', workspaceId: 'w', role: 'r', entitlements: new Set(), userGroups: undefined };
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
  '%s is bound, and takes its own example',
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
  '%s refuses a body that is no object',
  async (_id, operation) => {
    const bound = bindOperation(operation, () => Promise.resolve(new Answer({})));
    await expect(bound.answer(raw(5))).rejects.toMatchObject({ code: 'invalid_request' });
  },
);
