import { type ObjectRecord, type SavedObject } from '@decision/contracts';
import { insertObject, updateObject } from '../../src';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

const ROUNDS = 1_000;

let workspace: TestWorkspace;
beforeAll(async () => {
  workspace = await openTestWorkspace('objects');
});
afterAll(() => workspace.close());

const objectOf = (name: string, content: string): SavedObject => ({
  name,
  content,
  contentType: 'json_object',
  parsedFields: [],
  userGroups: [],
});

const insert = (name: string): Promise<ObjectRecord> =>
  workspace.database.inWorkspace(workspace.access, async (transaction) => {
    const outcome = await insertObject(transaction, objectOf(name, '{}'));
    if (outcome.status === 'inserted') return outcome.object;
    throw new Error(outcome.status);
  });

const update = ({ id, name }: ObjectRecord, content: string, expectedUpdatedAt: string) =>
  workspace.database.inWorkspace(workspace.access, (transaction) =>
    updateObject(transaction, id, objectOf(name, content), { expectedUpdatedAt }),
  );

it(`lets one of two writers through who have seen the same, ${ROUNDS} times`, async () => {
  const object = await insert('Contended');
  let seen = object.updatedAt;
  for (let round = 0; round < ROUNDS; round += 1) {
    const outcomes = await Promise.all(['x', 'y'].map((writer) => update(object, `"${writer}${round}"`, seen)));
    const won = outcomes.flatMap((outcome) => (outcome.status === 'updated' ? [outcome.object] : []));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['not_as_expected', 'updated']);
    expect(won[0]?.updatedAt).not.toBe(seen);
    seen = won[0]?.updatedAt ?? '';
  }
});

it('a time is never given twice, however quickly changes follow each other', async () => {
  const object = await insert('Quick');
  const times = new Set([object.updatedAt]);
  let seen = object.updatedAt;
  for (let change = 0; change < 50; change += 1) {
    const outcome = await update(object, `${change}`, seen);
    if (outcome.status !== 'updated') throw new Error(outcome.status);
    seen = outcome.object.updatedAt;
    times.add(seen);
  }
  expect(times.size).toBe(51);
});
