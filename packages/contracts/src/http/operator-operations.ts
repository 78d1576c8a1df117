import { type Static, Type } from '@sinclair/typebox';
import { type Operation } from './operation';
import { described } from '../described';

const typeName = Type.Unsafe<string>({ type: 'string', enum: ['number', 'string', 'boolean', 'date', 'list'] });

const ListedOperator = Type.Object(
  {
    type: Type.String({ description: 'Type of the fields that have the operator.' }),
    op: Type.String({ description: 'The exact name, as rule documents hold it.' }),
    args: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name of the argument.' }),
        type: Type.String({ description: 'Type of the argument.' }),
      }),
      { description: 'Arguments in their order.' },
    ),
    meaning: Type.String({ description: 'When it holds, in a sentence.' }),
    example: Type.Object(
      {
        args: Type.Array(Type.Unknown(), { description: 'Arguments of the example.' }),
        matches: Type.Unknown({ description: 'A value for which the condition holds.' }),
        misses: Type.Unknown({ description: 'A value for which it does not hold.' }),
      },
      { description: 'Arguments with a value that satisfies the condition and one that does not.' },
    ),
  },
  { $id: 'ListedOperator', description: 'An operator of conditions, with a value that matches and one that does not.' },
);
type ListedOperator = Static<typeof ListedOperator>;

const ListOperatorsQuery = Type.Object(
  { type: Type.Optional(described(typeName, 'Only operators of fields of this type. Default: all.')) },
  { $id: 'ListOperatorsQuery', additionalProperties: false, description: 'Which operators to list.' },
);

const OperatorList = Type.Object(
  {
    example_now: Type.String({ format: 'date-time', description: 'The clock at which the examples hold.' }),
    accumulators: Type.Array(Type.String(), { description: 'Named accumulators of groups; any other is a formula.' }),
    operators: Type.Array(ListedOperator, { description: 'Operators, in the order in which editors may offer them.' }),
  },
  { $id: 'OperatorList', description: 'Everything that conditions and groups can be made of.' },
);

export const listOperators = {
  id: 'listOperators',
  service: 'objects-api',
  tag: 'Rules',
  method: 'get',
  path: '/api/v1/admin/operators',
  pathParameters: [],
  summary: 'List the operators of conditions',
  description:
    'Names are exact, as rule documents hold them. Each has an example whose outcome is right at `example_now`.',
  entitlement: 'rules.read',
  query: ListOperatorsQuery,
  success: {
    status: 200,
    description: 'The operators, in the order in which editors may offer them.',
    schema: OperatorList,
    example: {
      example_now: '2026-05-13T12:00:00.000Z',
      accumulators: ['sum', 'count'],
      operators: [
        {
          type: 'number',
          op: 'greater than',
          args: [{ name: 'bound', type: 'number' }],
          meaning: 'Is above the bound.',
          example: { args: [3], matches: 4, misses: 3 },
        },
      ],
    },
  },
  errors: [],
} as const satisfies Operation;
