import { importRule, openApiDocument, operations } from '@decision/contracts';
import { bodyOf, openRaw, type RawConnection } from './raw-connection';
import { send, startTestService, type TestService } from './test-service';

let service: TestService;
let connection: RawConnection;
let release: () => void;
let handled: string[];

beforeEach(async () => {
  handled = [];
  const held = new Promise<void>((resolve) => (release = resolve));
  service = await startTestService({}, async ({ body }) => {
    handled.push(String(body.rule.name));
    await held;
    return body.rule;
  });
  connection = await openRaw(service.port);
});
afterEach(async () => {
  release();
  connection.socket.destroy();
  await service.server.stop(0);
});

const importOf = (name: string): string => {
  const body = JSON.stringify({ rule: { name } });
  const head = [`POST ${importRule.path} HTTP/1.1`, 'host: x', 'x-api-key: admin', `content-length: ${body.length}`];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
};
const chunked = `POST ${importRule.path} HTTP/1.1\r\nhost: x\r\nx-api-key: admin\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`;
const statuses = (text: string): (string | undefined)[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code);

const reach = async (count: number): Promise<void> => {
  while (handled.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
};
const refusedCount = async (): Promise<string> =>
  /count\{[^}]*route="unreadable"[^}]*\} (\d+)/.exec((await send(service.url, 'GET', '/metrics')).text)?.[1] ?? '0';

it('answers a complete request even if invalid bytes follow, and then closes', async () => {
  connection.send(`${importOf('one')}NONSENSE\r\n\r\n`);
  await reach(1);
  connection.send('MORE NONSENSE\r\n\r\n');
  release();
  const answer = await connection.closed;
  expect(statuses(answer)).toEqual(['200']);
  expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  expect(bodyOf(answer)).toEqual({ name: 'one' });
});

it('answers every complete request before invalid bytes, in order', async () => {
  connection.send(`${importOf('one')}${importOf('two')}NONSENSE\r\n\r\n`);
  await reach(2);
  release();
  const answer = await connection.closed;
  expect(statuses(answer)).toEqual(['200', '200']);
  expect(answer.indexOf('"one"')).toBeLessThan(answer.indexOf('"two"'));
});

it('closes after an answer that had begun before the invalid bytes came', async () => {
  const slow = await startTestService({
    keepAliveMs: 600_000,
    hot: {
      operations: [],
      route: (_request, response) => {
        response.writeHead(200, { 'content-length': 8 }).write('half');
        void new Promise<void>((resolve) => (release = resolve)).then(() => response.end('half'));
        return true;
      },
    },
  });
  const open = await openRaw(slow.port);
  open.send('GET /half HTTP/1.1\r\nhost: x\r\n\r\n');
  await open.received(/half$/);
  open.send('NONSENSE\r\n\r\n');
  // Time for the invalid bytes to be read; later ones are refused after the answer.
  await new Promise((resolve) => setTimeout(resolve, 200));
  release();
  const answer = await open.closed;
  expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nhalfhalf/);
  await slow.server.stop(0);
});

it('never gives the refusal of a broken request to an earlier one', async () => {
  connection.send(`${importOf('one')}${chunked}`);
  await reach(1);
  expect(statuses(await connection.closed)).toEqual([]);
  expect(await send(service.url, 'GET', '/health')).toMatchObject({ status: 200 });
});

it('refuses invalid bytes after a complete answer', async () => {
  connection.send('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
  await connection.received(/"ok"\}$/);
  connection.send('NONSENSE\r\n\r\n');
  expect(statuses(await connection.closed)).toEqual(['200', '400']);
});

it('refuses and counts a connection once, however many invalid bytes come', async () => {
  connection.send(`GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(100_000)}`);
  await connection.received(/^HTTP\/1\.1 431 /);
  for (let time = 0; time < 5; time += 1) connection.send('a'.repeat(20_000));
  expect(bodyOf(await connection.closed)).toMatchObject({ code: 'headers_too_large' });
  expect(await refusedCount()).toBe('1');
});

it('reveals no internals and logs no error for invalid bytes', async () => {
  connection.send('NONSENSE secret\r\n\r\n');
  const answer = await connection.closed;
  expect(answer).not.toMatch(/secret|HPE_|parse/i);
  expect(service.lines).toEqual([]);
});

it('answers too large headers as documented for every operation', async () => {
  const { paths } = openApiDocument(operations, { title: 'T', version: '1' }) as {
    paths: Record<
      string,
      Record<string, { responses: Record<string, { content: Record<string, { examples: object }> }> }>
    >;
  };
  connection.send(`${chunked.split('\r\n')[0] ?? ''}\r\nhost: x\r\ncookie: ${'a'.repeat(100_000)}\r\n\r\n`);
  const answer = await connection.closed;
  const { code } = bodyOf(answer) as { code: string };
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { responses }] of Object.entries(methods)) {
      const documented = Object.keys(responses[statuses(answer)[0] ?? '']?.content['application/json']?.examples ?? {});
      expect({ path, method, documented }).toEqual({ path, method, documented: [code] });
    }
});
