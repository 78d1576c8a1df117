import { listOperators } from '@decision/contracts';
import { accumulatorNames, EXAMPLE_NOW, operatorCatalogue, type OperatorEntry } from '@decision/engine';
import { bindOperation, type BoundOperation } from '@decision/service-kit';

/** Operators that editors offer for conditions and groups. */
export const operatorRoutes = (): readonly BoundOperation[] => [
  bindOperation(listOperators, ({ query }) =>
    Promise.resolve({
      example_now: new Date(EXAMPLE_NOW).toISOString(),
      accumulators: [...accumulatorNames],
      operators: operatorCatalogue.filter(({ type }) => query.type === undefined || query.type === type).map(toListed),
    }),
  ),
];

const toListed = ({ type, op, args, meaning, example }: OperatorEntry) => ({
  type,
  op,
  args: args.map((argument) => ({ ...argument })),
  meaning,
  example: { ...example, args: [...example.args] },
});
