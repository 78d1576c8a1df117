import { Kind, type TSchema } from '@sinclair/typebox';
import * as contracts from '../index';
import { errorCodes } from '../error-codes';
import { compileValidator } from '../validator';
import { ErrorBody } from './error-body';
import { ingressRoutes, routeOf } from './ingress-routes';
import { codesOf, openApiDocument } from './openapi';
import { operations } from './operations';
import { timeParameter } from '../page-schema';

const schemasOf = (operation: (typeof operations)[number]): TSchema[] =>
  [operation.query, operation.body?.schema, operation.success.schema].filter(
    (schema): schema is TSchema => schema !== undefined,
  );

/** Schemas that the package exports, by name, and the queries of its operations; a validator compiles its schema for the first value. */
const writtenSchemas = [
  ...Object.entries<unknown>(contracts).filter((entry): entry is [string, TSchema] => Kind in Object(entry[1])),
  ...operations.flatMap(({ id, query }) => (query === undefined ? [] : [[`the query of ${id}`, query] as const])),
];

describe('schemas', () => {
  it.each(writtenSchemas)('%s compiles without a complaint of the strict mode', (_name, schema) => {
    expect(() => compileValidator(schema)(undefined)).not.toThrow();
  });
});

describe('operations', () => {
  it.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s has examples that validate',
    (_id, operation) => {
      expect(compileValidator(operation.success.schema)(operation.success.example)).toMatchObject({
        ok: true,
      });
      if (operation.body)
        expect(compileValidator(operation.body.schema)(operation.body.example)).toMatchObject({ ok: true });
    },
  );

  it.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s names and describes its schemas',
    (_id, operation) => {
      for (const schema of schemasOf(operation)) {
        expect(schema.$id).toMatch(/^[A-Z][A-Za-z]+$/);
        expect(schema.description).toBeTruthy();
      }
    },
  );

  it.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s describes every parameter of its path',
    (_id, operation) => {
      const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      expect(operation.pathParameters.map(({ name }) => name)).toEqual(inPath);
    },
  );

  it('have ids, and methods of a path, of their own', () => {
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    expect(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size).toBe(operations.length);
  });

  it.each(operations.map((operation) => [operation.path, operation.service] as const))(
    '%s reaches %s through the ingress',
    (path, service) => {
      expect(routeOf(path.replace(/\{\w+\}/g, 'x'))).toBe(service);
    },
  );
});

describe('the ingress table', () => {
  it.each([
    ['/health', 'hps-gateway'],
    ['/api/v1/solve/a/latest', 'hps-gateway'],
    ['/api/v1/flows/a', 'hps-gateway'],
    ['/api/v1/admin/flows/list', 'objects-api'],
    ['/api/v1/solver', 'objects-api'],
    ['/api/health', 'objects-api'],
    ['/dashboard', 'auth-proxy-adapter'],
    ['/auth/denied', 'auth-proxy-adapter'],
    ['/api/sso-provision', 'auth-proxy-adapter'],
    ['/api/sso-provisioned', 'objects-api'],
    ['/', undefined],
    ['/healthy', undefined],
  ])('sends %s to %s', (path, service) => {
    expect(routeOf(path)).toBe(service);
  });

  it('has no prefix that an earlier one hides', () => {
    for (const [index, { prefix }] of ingressRoutes.entries()) {
      expect(ingressRoutes.slice(0, index).some((earlier) => prefix.startsWith(`${earlier.prefix}/`))).toBe(false);
    }
  });
});

/** The objects in a request body that accept fields of any name. */
const openObjects = (schema: unknown, path: string): readonly string[] => {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, properties, additionalProperties, patternProperties, items, anyOf } = schema as Record<string, unknown>;
  const own = type === 'object' && properties !== undefined && additionalProperties !== false ? [path] : [];
  const within: readonly (readonly [string, unknown])[] = [
    ...Object.entries(properties ?? {}).map(([name, inner]) => [`${path}/${name}`, inner] as const),
    ...Object.values(patternProperties ?? {}).map((inner) => [`${path}/*`, inner] as const),
    ...[additionalProperties].map((inner) => [`${path}/*`, inner] as const),
    ...[items].map((inner) => [`${path}/0`, inner] as const),
    ...((anyOf ?? []) as unknown[]).map((inner) => [path, inner] as const),
  ];
  return [...own, ...within.flatMap(([place, inner]) => openObjects(inner, place))];
};

/** Locations that keep unknown fields, by operation: all others reject them, so that nothing from a client is dropped silently. */
const KEEPS_UNKNOWN_FIELDS: Readonly<Record<string, RegExp>> = {
  // Rule documents travel between versions and programs; objects-api rejects names that look like known ones and reports the others.
  importRule: /^\/rule(\/|$)/,
  importFlow: /^\/flow(\/|$)/,
  // The fields besides `$rule` are the inputs of the rule.
  parallelSolve: /^\/\*$/,
  // An empty body: the call has no input.
  cascadeInstance: /^$/,
};

it('request bodies refuse unknown fields at every level, except those that keep them on purpose', () => {
  const open = operations.flatMap(({ id, body }) => openObjects(body?.schema, '').map((path) => ({ id, path })));
  expect(open.filter(({ id, path }) => KEEPS_UNKNOWN_FIELDS[id]?.test(path) !== true)).toEqual([]);
  expect(new Set(open.map(({ id }) => id))).toEqual(new Set(Object.keys(KEEPS_UNKNOWN_FIELDS)));
});

it('reads every time in a query in the same way and names its bounds', () => {
  const { description: _description, examples: _examples, ...told } = timeParameter('', '');
  let times = 0;
  for (const { id, query } of operations) {
    for (const [name, schema] of Object.entries((query?.properties ?? {}) as Record<string, TSchema>)) {
      if (!JSON.stringify(schema).includes('date-time')) continue;
      times += 1;
      expect({ id, name, schema }).toMatchObject({ id, name, schema: told });
      expect(schema.description).toContain('from year 1 to 9999');
    }
  }
  expect(times).toBeGreaterThan(0);
});

describe('error bodies', () => {
  it('have an example that validates', () => {
    for (const example of ErrorBody.examples as unknown[]) expect(compileValidator(ErrorBody)(example).ok).toBe(true);
  });

  it.each(Object.entries(errorCodes))(
    '%s has a client or server status and a meaning',
    (_code, { status, meaning }) => {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(600);
      expect(meaning).toMatch(/\.$/);
    },
  );
});

interface ErrorResponse {
  readonly content: {
    readonly 'application/json': { readonly examples?: Readonly<Record<string, { value: unknown }>> };
  };
}
interface Parameter {
  readonly schema: TSchema;
  readonly example?: unknown;
}

describe('openApiDocument', () => {
  const document = openApiDocument(operations, { title: 'T', version: '1' });

  it.each([
    '/api/v1/contexts/batch/{slug}',
    '/api/v1/bulk-solve/{slug}',
    '/api/v1/bulk-solve/{slug}/{selector}',
    '/api/v1/flows/{slug}',
    '/api/v1/flows/{slug}/{selector}',
  ])('says that %s takes and answers lines, with lines as examples', (path) => {
    const paths = document['paths'] as Record<string, Record<string, unknown>>;
    const { requestBody, responses } = paths[path]?.['post'] as {
      requestBody: { content: Record<string, { example: unknown }> };
      responses: Record<string, { content: Record<string, { example: unknown }> }>;
    };
    for (const content of [requestBody.content, responses['200']?.content]) {
      expect(Object.keys(content ?? {})).toEqual(['application/json', 'application/x-ndjson']);
      const lines = String(content?.['application/x-ndjson']?.example).split('\n');
      expect(lines.pop()).toBe('');
      for (const line of lines) expect(JSON.parse(line)).toEqual(expect.any(Object));
    }
  });
  const text = JSON.stringify(document);

  it('resolves every reference', () => {
    const { schemas } = document['components'] as { schemas: Record<string, unknown> };
    const references = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map((match) => match[1] ?? '');
    expect(references.length).toBeGreaterThan(20);
    for (const name of references) expect(Object.keys(schemas)).toContain(name);
  });

  it('lists every status that an operation can answer', () => {
    const paths = document['paths'] as Record<string, Record<string, { responses: Record<string, unknown> }>>;
    for (const operation of operations) {
      const statuses = Object.keys(paths[operation.path]?.[operation.method]?.responses ?? {});
      expect(statuses).toEqual(
        expect.arrayContaining(codesOf(operation).map((code) => String(errorCodes[code].status))),
      );
    }
  });

  it('shows an example of every error code of an operation, each a valid error body', () => {
    const paths = document['paths'] as Record<string, Record<string, { responses: Record<string, ErrorResponse> }>>;
    const check = compileValidator(ErrorBody);
    for (const operation of operations) {
      const responses = paths[operation.path]?.[operation.method]?.responses ?? {};
      for (const code of codesOf(operation)) {
        const shown = responses[String(errorCodes[code].status)]?.content['application/json'].examples?.[code];
        expect(shown?.value).toMatchObject({ code });
        expect(check(shown?.value)).toMatchObject({ ok: true });
      }
    }
  });

  it('shows examples of parameters that their schemas accept', () => {
    const paths = document['paths'] as Record<string, Record<string, { parameters: Parameter[] }>>;
    const parameters = Object.values(paths).flatMap((methods) => Object.values(methods).flatMap((call) => call.parameters)); // prettier-ignore
    const examples = parameters.flatMap(({ schema, example }) => [...(schema.examples ?? []), ...(example === undefined ? [] : [example])].map((shown) => ({ schema, shown }))); // prettier-ignore
    expect(examples.length).toBeGreaterThan(10);
    for (const { schema, shown } of examples) expect(compileValidator(schema)(shown)).toMatchObject({ ok: true });
  });

  it('keeps no $id, which the document format does not know', () => {
    expect(text).not.toContain('"$id"');
  });
});
