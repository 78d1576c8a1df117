/**
 * A credit bureau for trying the flow "loan-decision": `GET /scores/{applicant}` answers `{"applicant", "score"}`. The score follows from the
 * name, so that the same applicant always has the same. `node examples/credit-bureau.mjs [port]`; the port is 8099 unless another is given.
 */
import { createServer } from 'node:http';

const scoreOf = (applicant) => {
  let sum = 0;
  for (const character of applicant) sum = (sum * 31 + character.codePointAt(0)) % 551;
  return 300 + sum;
};

const server = createServer((request, response) => {
  const applicant = /^\/scores\/([^/?]+)$/.exec(request.url ?? '')?.[1];
  response.writeHead(applicant === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify(
      applicant === undefined
        ? { error: 'Ask for /scores/{applicant}.' }
        : { applicant: decodeURIComponent(applicant), score: scoreOf(decodeURIComponent(applicant)) },
    ),
  );
});

server.listen(Number(process.argv[2] ?? 8099), '127.0.0.1', () => {
  console.log(`The bureau answers at http://127.0.0.1:${server.address().port}/scores/{applicant}. Ctrl-C stops it.`);
});
