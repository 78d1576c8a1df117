import { type AddressInfo } from 'node:net';
import express from 'express';

/** A bare Express server that parses a JSON body and returns it; prints its port. */
const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.post('/echo', (request, response) => {
  response.json(request.body);
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`); // a listening TCP server has an AddressInfo
});
process.once('SIGTERM', () => server.close(() => process.exit(0)));
