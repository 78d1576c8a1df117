import { compileValidator } from '../validator';
import { ErrorBody } from './error-body';
import { openApiDocument } from './openapi';
import { type Operation } from './operation';
import { operations } from './operations';
import { RuleImport } from '../rules/rule-document';

interface Node {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly [keyword: string]: unknown;
}

const document = openApiDocument(operations, { title: 'T', version: '1' }) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Node>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Node>> };
};
const { schemas } = document.components;

const isDescribed = (text: unknown): boolean => typeof text === 'string' && /^\S.*[.`]$/s.test(text);

/** Properties, at any depth, without a description; a property that refers to a component is described there. */
const undescribed = (node: unknown, path: string): readonly string[] => {
  if (Array.isArray(node)) return node.flatMap((part) => undescribed(part, path));
  if (node === null || typeof node !== 'object') return [];
  const { properties = {}, examples: _examples, example: _example, ...rest } = node as Node;
  const own = Object.entries(properties).flatMap(([name, property]) => [
    ...(property.$ref === undefined && !isDescribed(property.description) ? [`${path}.${name}`] : []),
    ...undescribed(property, `${path}.${name}`),
  ]);
  return [...own, ...Object.values(rest).flatMap((part) => undescribed(part, path))];
};

describe('the document', () => {
  it('describes every operation in a summary and a description', () => {
    const calls = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(calls.length).toBe(operations.length);
    const silent = calls.filter(({ summary, description }) => typeof summary !== 'string' || !isDescribed(description));
    expect(silent.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('describes every schema and every property, at any depth', () => {
    const names = Object.keys(schemas);
    expect(names.length).toBeGreaterThan(100);
    expect(names.filter((name) => !isDescribed(schemas[name]?.description))).toEqual([]);
    expect(names.flatMap((name) => undescribed(schemas[name], name))).toEqual([]);
    expect(undescribed(document.paths, 'paths')).toEqual([]);
  });

  it('finds a property without a description at any depth', () => {
    const bare = { items: [{ anyOf: [{ properties: { a: { type: 'string' }, b: { $ref: 'x' } } }] }] };
    expect(undescribed(bare, 'A')).toEqual(['A.a']);
    expect(undescribed({ properties: { a: { description: 'Yes.', properties: { b: {} } } } }, 'A')).toEqual(['A.a.b']);
  });

  it('describes every parameter', () => {
    const calls = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const parameters = calls.flatMap((call) => call['parameters'] as readonly Node[]);
    expect(parameters.filter(({ description }) => !isDescribed(description))).toEqual([]);
  });

  it('describes the header that names the work of flows', () => {
    const withHeader = operations.filter(({ headers }) => headers !== undefined).map(({ id }) => id);
    expect(withHeader).toEqual(['solveFlow', 'solveFlowVersion', 'parallelSolve']);
    const parameters = document.paths['/api/v1/flows/{slug}']?.['post']?.['parameters'];
    expect(parameters).toContainEqual(
      expect.objectContaining({
        ...{ name: 'Idempotency-Key', in: 'header', required: false },
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      }),
    );
  });

  it('says what a manual solve answers if it waits', () => {
    const call = document.paths['/api/v1/contexts/{slug}/{instance}/solve/{rule}']?.['post'];
    expect(Object.keys(call?.['responses'] as object)).toEqual(expect.arrayContaining(['200', '202']));
  });

  it('types folders, bindings, arguments and outputs of rules', () => {
    const { RuleImport: rule, ConditionCell: cell, ResponseCell: output } = schemas;
    expect(rule?.properties?.['folder']).toEqual({ $ref: '#/components/schemas/RuleFolder' });
    expect(rule?.properties?.['context']).toEqual({ $ref: '#/components/schemas/RuleBinding' });
    expect(cell?.properties?.['args']).toMatchObject({ items: { $ref: '#/components/schemas/RuleValue' } });
    expect(output?.properties?.['value']).toMatchObject({ $ref: '#/components/schemas/RuleValue' });
  });
});

describe('shown schemas', () => {
  it.each([{ folder: 5 }, { context: [] }, { conditions: [{ response: { price: { value: null } } }] }])(
    'does not make the validator stricter: %j is for the handler to judge',
    (rule) => {
      expect(compileValidator(RuleImport)(rule).ok).toBe(true);
    },
  );

  it('has accepted answers whose examples validate', () => {
    const accepted = operations.flatMap(({ accepted }: Operation) => accepted ?? []);
    expect(accepted.length).toBeGreaterThan(0);
    for (const { schema, example } of accepted) expect(compileValidator(schema)(example)).toMatchObject({ ok: true });
  });

  it('has an error body whose fields are described', () => {
    expect(undescribed(JSON.parse(JSON.stringify(ErrorBody)), 'ErrorBody')).toEqual([]);
  });
});
