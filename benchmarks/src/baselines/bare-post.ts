import { serveBodies } from './serve-bodies';

/* A server that answers the body. Prints its address and its process id. */
void serveBodies((body, reply) => reply(200, body)).then((address) =>
  process.stdout.write(`${address} ${process.pid}\n`),
);
process.once('SIGTERM', () => process.exit(0));
