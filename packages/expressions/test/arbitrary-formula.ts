import fc from 'fast-check';
import { formulaFunctions, type FormulaNode } from '../src';

/** A node without its position, and without those of its descendants. */
export const withoutPositions = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(withoutPositions);
  if (typeof node !== 'object' || node === null) return node;
  const { position: _position, length: _length, ...rest } = node as Record<string, unknown>; // a node of a formula
  return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withoutPositions(value)]));
};

const nowhere = { position: 0, length: 0 } as const;

const oddText = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'x',
    'price',
    'a b',
    'a.b',
    'in',
    'not',
    'true',
    '__proto__',
    'constructor',
    'length',
    '😀',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
  fc.string({
    unit: fc.constantFrom('`', '"', "'", '\\', '$', '.', '\n', '\ud800', '\u2028', 'é'),
    minLength: 1,
    maxLength: 4,
  }),
);

/** A plain or unusual name; `$` at the start has a special meaning. */
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'x', 'y') },
  oddText.filter((text) => !text.startsWith('$')),
);
const firstPart = fc.oneof(
  { weight: 9, arbitrary: name },
  name.map((text) => `$${text}`),
);

const literalValue = fc.oneof(
  fc.constantFrom<string | number | boolean | null>(null, true, false, 0, 1, 2, 10, '', 'a', 'x > 1', 'a.b'),
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  fc.string({ unit: 'binary', maxLength: 6 }),
);

const binaryOperator = fc.constantFrom(
  '+',
  '-',
  '*',
  '/',
  '%',
  '**',
  '<',
  '<=',
  '>',
  '>=',
  '==',
  '!=',
  'in',
  'and',
  'or', // prettier-ignore
) as fc.Arbitrary<Extract<FormulaNode, { kind: 'binary' }>['operator']>;

const functionName = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...formulaFunctions.map((entry) => entry.name)) },
  { weight: 1, arbitrary: name },
);

/** Any tree that the parser could make, without positions. */
export const arbitraryNode: fc.Arbitrary<FormulaNode> = fc.letrec<{ node: FormulaNode; argument: FormulaNode }>(
  (tie) => ({
    argument: fc.oneof(
      { weight: 3, arbitrary: tie('node') },
      fc.record({
        kind: fc.constant('lambda' as const),
        parameter: name,
        body: tie('node'),
        position: fc.constant(0),
        length: fc.constant(0),
      }),
    ),
    node: fc.oneof(
      { maxDepth: 6, depthIdentifier: 'formula' },
      literalValue.map((value): FormulaNode => ({ kind: 'literal', value, ...nowhere })),
      fc
        .tuple(firstPart, fc.array(oddText, { maxLength: 2 }))
        .map(([first, rest]): FormulaNode => ({ kind: 'name', parts: [first, ...rest], ...nowhere })),
      fc.array(tie('node'), { maxLength: 3 }).map((items): FormulaNode => ({ kind: 'list', items, ...nowhere })),
      fc.tuple(tie('node'), oddText).map(([object, key]): FormulaNode => ({ kind: 'member', object, key, ...nowhere })),
      fc
        .tuple(tie('node'), tie('node'))
        .map(([object, index]): FormulaNode => ({ kind: 'index', object, index, ...nowhere })),
      fc
        .tuple(fc.constantFrom('-' as const, 'not' as const), tie('node'))
        .map(([operator, operand]): FormulaNode => ({ kind: 'unary', operator, operand, ...nowhere })),
      fc
        .tuple(binaryOperator, tie('node'), tie('node'))
        .map(([operator, left, right]): FormulaNode => ({ kind: 'binary', operator, left, right, ...nowhere })),
      fc
        .tuple(tie('node'), tie('node'), tie('node'))
        .map(([test, yes, no]): FormulaNode => ({ kind: 'conditional', test, yes, no, ...nowhere })),
      fc
        .tuple(functionName, fc.array(tie('argument'), { maxLength: 3 }))
        .map(([called, given]): FormulaNode => ({ kind: 'call', name: called, arguments: given, ...nowhere })),
      fc
        .tuple(fc.oneof(fc.constantFrom('f', 'g'), name), fc.array(tie('argument'), { maxLength: 2 }))
        .map(([called, given]): FormulaNode => ({ kind: 'value-call', name: called, arguments: given, ...nowhere })),
    ),
  }),
).node;

/** Values of a field: JSON, and values that JSON cannot represent. */
export const arbitraryValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 3, arbitrary: fc.array(fc.record({ a: fc.integer(), b: fc.string() }), { maxLength: 4 }) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(undefined, 0, 1, -1, 2.5, '2024-05-01', 'a', true) },
  fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true }),
);
