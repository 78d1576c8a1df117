import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { testStack, waitUntil } from '@decision/local-stack';
import { freeze, signal } from '../../src/histories/faults';
import { callJson } from '../../src/histories/service-call';
import { startWatchedFleet, type WatchedFleet } from '../../src/histories/watched-fleet';

/* Processes that die or freeze while a flow bound to a context waits for an external answer. */

interface Asked {
  readonly key: string | undefined;
  readonly amount: number;
  readonly response: ServerResponse;
}

/** Scores amounts; withholds its answers on demand. */
class Bureau {
  private readonly asked: Asked[] = [];
  private holds = false;
  private readonly server = createServer((request, response) => {
    response.on('error', () => undefined); // the caller is dead
    text(request).then(
      (body) => {
        const { amount } = JSON.parse(body) as { amount: number }; // as the node below sends it
        this.take({ key: request.headers['idempotency-key']?.toString(), amount, response });
      },
      () => response.destroy(),
    );
  });

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`; // the server listens on TCP
  }

  close(): Promise<unknown> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }

  hold(): void {
    this.holds = true;
  }

  /**
   * Idempotency keys of the requests about an amount. Earlier operations may repeat requests about other amounts: messages are delivered at least
   * once.
   */
  keysFor(amount: number): readonly (string | undefined)[] {
    return this.asked.filter((one) => one.amount === amount).map(({ key }) => key);
  }

  /** Answers the waiting requests, and all later ones. */
  letGo(): void {
    this.holds = false;
    this.asked.forEach(answerScore);
  }

  private take(asked: Asked): void {
    this.asked.push(asked);
    if (!this.holds) answerScore(asked);
  }
}

const answerScore = ({ amount, response }: Asked): void => {
  if (response.writableEnded || response.destroyed) return;
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ score: amount * 2 }));
};

const SLUG = 'loans';
const FLOW = 'loan-score';
const field = (key: string) => ({ key, name: key, type: 'number' });

const bureau = new Bureau();
let fleet: WatchedFleet;

beforeAll(async () => {
  const stack = testStack();
  const mayAsk = { FLOW_API_ALLOWED_HOSTS: '127.0.0.1' };
  fleet = await startWatchedFleet({
    ...{ addresses: stack, name: stack.uniqueName('flowdeaths') },
    // Longer than a worker takes to start on a busy machine.
    ...{ workerEnvironment: mayAsk, contextsEnvironment: { ...mayAsk, RPC_TIMEOUT_MS: '60000' } },
  });
  await define(await bureau.open());
}, 360_000);
afterAll(async () => {
  await fleet.stop();
  await bureau.close();
}, 90_000);
beforeEach(() => fleet.ready(), 180_000);
afterEach(() => bureau.letGo());

const admin = async (path: string, body: unknown): Promise<void> => {
  const answer = await callJson(`${fleet.baseUrl}/api/v1/admin/${path}`, {
    method: 'POST',
    apiKey: fleet.apiKey,
    body,
  });
  if (answer?.status !== 200) throw new Error(`${path} was refused: ${JSON.stringify(answer)}`);
};

/** Loans have an amount, for which a flow requests a score from the bureau. */
const define = async (bureauUrl: string): Promise<void> => {
  await admin('contexts', {
    ...{ name: 'Loans', identity_fact: 'loan_id' },
    schema: {
      base: [
        { key: 'loan_id', type: 'string' },
        { key: 'amount', type: 'number', track_history: true },
        { key: 'score', type: 'number', output_only: true, track_history: true },
      ],
    },
  });
  const about = { slug: 'about-loans', name: 'About loans', requestSchema: [field('amount')], responseSchema: [] };
  await admin('rules/import', { rule: { id: randomUUID(), ...about, conditions: [], _publish: true } });
  const asks = { type: 'api', method: 'POST', url: `${bureauUrl}/scores`, body: { amount: '{{amount}}' } };
  await admin('flows/import', {
    flow: {
      ...{ slug: FLOW, name: FLOW, context: { slug: SLUG, version: 'latest' } },
      nodes: [
        { ref: 'in', type: 'origin', rule: 'about-loans' },
        { ref: 'bureau', ...asks, outputs: [{ key: 'score', type: 'number' }] },
        { ref: 'out', type: 'result' },
      ],
      connections: [
        { from: 'in', output: 'request_amount', to: 'bureau', input: 'amount' },
        { from: 'bureau', output: 'score', to: 'out', input: 'score' },
      ],
    },
  });
};

type Process = WatchedFleet['contexts'][number];

const ask = (method: 'GET' | 'POST', path: string, body?: unknown, process: Process = fleet.contexts[1]) =>
  callJson(`${process.url}/api/v1/contexts/${SLUG}/${path}`, { method, apiKey: fleet.apiKey, body });

interface Loan {
  readonly id: string;
  /** Unique to this loan. */
  readonly amount: number;
}

/** A loan whose flow waits for the bureau, which withholds its answer; and the final answer to its client. */
const holdFlow = async (loan: Loan): Promise<{ readonly submitted: ReturnType<typeof ask> }> => {
  bureau.hold();
  const submitted = ask('POST', loan.id, { amount: loan.amount }, fleet.contexts[0]);
  await isAsked(loan, 1);
  return { submitted };
};

const isAsked = (loan: Loan, times: number): Promise<void> =>
  waitUntil(() => bureau.keysFor(loan.amount).length >= times, `the bureau is asked ${times} times`);

const scored = ({ amount }: Loan) => ({ status: 'complete', state: { amount, score: amount * 2 } });

/** All runs of the flow used one key, the bureau's answer is in the instance once, and nobody holds the instance. */
const converges = async (loan: Loan): Promise<void> => {
  const { id, amount } = loan;
  const again = { status: 200, body: { triggered: false, reason: 'inputs_unchanged', ...scored(loan) } };
  expect(await ask('POST', id, { amount })).toMatchObject(again);
  expect((await ask('GET', id))?.body).toMatchObject({
    executions: { [`flow:${FLOW}`]: { status: 'success', run_count: 1 } },
  });
  expect((await ask('GET', `${id}/history`))?.body['history']).toMatchObject({
    amount: [{ value: amount }],
    score: [{ value: amount * 2 }],
  });
  const [first, second, ...others] = bureau.keysFor(amount);
  expect(first).toMatch(/^[\w-]{16,}$/);
  expect(new Set([first, second, ...others])).toEqual(new Set([first]));
};

it('C76, C150, I1, I2: a worker is killed while its flow waits for an answer, and the next one asks under the same name', async () => {
  const loan = { id: 'unanswered', amount: 7 };
  const { submitted } = await holdFlow(loan);
  signal(fleet.worker, 'SIGKILL');
  await isAsked(loan, 2);
  bureau.letGo();
  expect(await submitted).toMatchObject({ status: 200, body: scored(loan) });
  await converges(loan);
}, 180_000);

it('C76, C150, I1, I2: a worker is killed with an answer that its flow has not taken, and the next one asks for it again', async () => {
  const loan = { id: 'answered', amount: 8 };
  const { submitted } = await holdFlow(loan);
  await freeze(fleet.worker);
  bureau.letGo();
  signal(fleet.worker, 'SIGKILL');
  expect(await submitted).toMatchObject({ status: 200, body: scored(loan) });
  expect(bureau.keysFor(loan.amount).length).toBeGreaterThan(1);
  await converges(loan);
}, 180_000);

it('C76, C147, C150, I1, I2: contexts-api is killed while a flow waits, and whoever takes over has it ask under the same name', async () => {
  const loan = { id: 'taken-over', amount: 9 };
  const { submitted } = await holdFlow(loan);
  signal(fleet.contexts[0], 'SIGKILL');
  expect(await submitted).toBeUndefined();
  await isAsked(loan, 2);
  bureau.letGo();
  await waitUntil(async () => {
    const state = (await ask('GET', loan.id))?.body['state'] as object | undefined;
    return state !== undefined && 'score' in state;
  }, 'the operation is finished');
  await converges(loan);
}, 180_000);
