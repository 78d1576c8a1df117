import { type AddressInfo } from 'node:net';
import express from 'express';
import { makeRows, type PriceRow } from '../price-table';
import { publishedDecision } from '../published-decision';

/*
 * A service without this project: the fastest published engine of decision tables within an Express handler, its table compiled once, without
 * authentication. Prints its port. The argument is the number of rows of the table.
 */

/** The rows as a decision table of that engine. */
const toDecision = (rows: readonly PriceRow[]): object => {
  const input = (field: string) => ({ id: field, name: field, field });
  return {
    nodes: [
      { id: 'in', name: 'in', type: 'inputNode' },
      {
        id: 'table',
        name: 'table',
        type: 'decisionTableNode',
        content: {
          hitPolicy: 'first',
          inputs: ['region', 'weight', 'level', 'express'].map(input),
          outputs: [input('price')],
          rules: rows.map((row, index) => ({
            _id: String(index),
            region: JSON.stringify(row.region),
            weight: `[${row.from}..${row.to}]`,
            level: `>= ${row.level}`,
            express: String(row.express),
            price: String(row.price),
          })),
        },
      },
      { id: 'out', name: 'out', type: 'outputNode' },
    ],
    edges: [
      { id: 'a', sourceId: 'in', targetId: 'table', type: 'edge' },
      { id: 'b', sourceId: 'table', targetId: 'out', type: 'edge' },
    ],
  };
};

const decision = publishedDecision(toDecision(makeRows(Number(process.argv[2]))));
const app = express();
app.disable('x-powered-by');
app.use(express.json({ limit: '32mb' }));
app.post('/solve', async ({ body }, response) => {
  response.json((await decision.evaluate(body)).result);
});
app.post('/bulk', async ({ body }, response) => {
  const items = body as unknown[]; // the benchmark sends lists
  const answers = await Promise.all(items.map((item) => decision.evaluate(item)));
  response.json(answers.map(({ result }): unknown => result));
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`); // a listening TCP server has an AddressInfo
});
process.once('SIGTERM', () => server.close(() => process.exit(0)));
