import { type AddressInfo } from 'node:net';
import express from 'express';
import { publishedPricing } from '../flow-of-tables';

/* The flow of three tables in the fastest published engine, within an Express handler that accepts lists. Prints its port. */

const decision = publishedPricing();
const app = express();
app.disable('x-powered-by');
app.use(express.json({ limit: '32mb' }));
app.post('/bulk', async ({ body }, response) => {
  const items = body as unknown[]; // the benchmark sends lists
  const answers = await Promise.all(items.map((item) => decision.evaluate(item)));
  response.json(answers.map(({ result }): unknown => result));
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`); // a listening TCP server has an AddressInfo
});
process.once('SIGTERM', () => server.close(() => process.exit(0)));
