import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type CommitOutcome,
  findCommitOutcome,
  findOperation,
  insertContext,
  lockInstances,
  mergeDirect,
  type Transaction,
  type WrittenRow,
  writeInstances,
} from '../../src';
import { newContext, write } from './context-fixtures';
import { useTestWorkspace } from '../test-workspace';

const workspace = useTestWorkspace('context_commits');
const { inside } = workspace;
let contextId: string;
const save = (t: Transaction, ...ids: string[]): Promise<readonly WrittenRow[]> =>
  mergeDirect(t, contextId, ids.map((instanceId) => ({ instanceId, facts: { id: instanceId } })), null); // prettier-ignore
const outcome = (rows: readonly WrittenRow[]): Promise<CommitOutcome> =>
  inside((t) => findCommitOutcome(t, contextId, rows));

beforeEach(async () => {
  contextId = randomUUID();
  await inside((t) => insertContext(t, newContext({ id: contextId })));
});

/** Rows of a transaction that is rolled back. */
const rolledBack = async (...ids: string[]): Promise<readonly WrittenRow[]> => {
  let rows: readonly WrittenRow[] = [];
  const failing = inside(async (t) => {
    rows = await save(t, ...ids);
    throw new Error('on purpose');
  });
  await expect(failing).rejects.toThrow('on purpose');
  return rows;
};

describe('C149: the outcome of a transaction', () => {
  it('is committed, even if others write afterwards', async () => {
    const rows = await inside((t) => save(t, 'a', 'b'));
    expect(await outcome(rows)).toBe('committed');
    await inside((t) => writeInstances(t, [write('a', { n: 2 })], { contextId, ttlSeconds: null }));
    expect(await outcome(rows)).toBe('committed');
  });

  it('is rolled back, also if others wrote what it had written', async () => {
    const rows = await rolledBack('a');
    expect(await outcome(rows)).toBe('rolled_back');
    await inside((t) => save(t, 'a'));
    await inside((t) => save(t, 'a'));
    expect(await outcome(rows)).toBe('rolled_back');
  });

  it('is under way as long as it is', async () => {
    await inside(async (t) => {
      expect(await outcome(await save(t, 'a'))).toBe('under_way');
    });
  });

  it('is under way, for who asks about its operation, from when it locks an instance', async () => {
    const ask = (transactionId: string) =>
      inside((t) => findOperation(t, { contextId, operationId: randomUUID(), instanceIds: ['a'], transactionId }));
    const transactionId = await inside(async (t) => {
      const [locked] = await lockInstances(t, { contextId, instanceIds: ['a'], create: true });
      const id = locked?.transactionId ?? '';
      expect(await ask(id)).toMatchObject({ takeovers: undefined, instances: [], isUnderWay: true });
      return id;
    });
    expect(await ask(transactionId)).toMatchObject({ instances: [{ version: 0, isHeld: false }], isUnderWay: false });
  });

  it('is rolled back if the database has forgotten that there was one of this number', async () => {
    const [row] = await inside((t) => save(t, 'a'));
    const ahead = { instanceId: 'a', version: 1, writtenAt: '', ...row, transactionId: '9000000000000000000' };
    expect(await outcome([ahead])).toBe('rolled_back');
  });

  describe('with a number that another transaction got, as after a crash', () => {
    /** Simulates a database that lost the transaction, and committed another under its id. */
    const renumbered = async (rows: readonly WrittenRow[]): Promise<readonly WrittenRow[]> => {
      const [other] = await inside((t) => save(t, 'other'));
      return rows.map((row) => ({ ...row, transactionId: other?.transactionId ?? '' }));
    };

    it('is rolled back if a row is as it was before', async () => {
      await inside((t) => save(t, 'a'));
      expect(await outcome(await renumbered(await rolledBack('a', 'b')))).toBe('rolled_back');
    });

    it('is rolled back if others wrote the next version of a row', async () => {
      await inside((t) => save(t, 'a'));
      const lost = await rolledBack('a');
      await pause(2); // times have a resolution of milliseconds
      await inside((t) => save(t, 'a'));
      expect(await outcome(await renumbered(lost))).toBe('rolled_back');
    });

    it('is unknown if its rows are not there, or were made later', async () => {
      const lost = await rolledBack('a');
      expect(await outcome(await renumbered(lost))).toBe('unknown');
      await pause(2);
      await inside((t) => save(t, 'a'));
      expect(await outcome(await renumbered(lost))).toBe('unknown');
    });
  });
});
