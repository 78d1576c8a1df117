import { type InstanceOutcome } from '../operations/work';
import { BatchCascade, type BatchWork } from './carry-out-chunk';

/** A changed instance of a context that another one reads. */
const outcome = (instanceId: string, total: number) =>
  ({
    ...{ instanceId, version: 1, readerPass: undefined, resolved: { state: { total } } },
    context: { id: 'orders', revision: '1', world: { relationships: [{ toContextId: 'orders' }] } },
  }) as unknown as InstanceOutcome; // all that a cascade reads

/** Readers of a batch, of which there are none; `runs` counts how often they were looked up. */
const cascadeUnderTest = (mostBytes: number) => {
  const runs = { count: 0 };
  const work = {
    context: {
      database: {
        inWorkspace: () => {
          runs.count += 1;
          return Promise.resolve([]);
        },
      },
    },
    origin: { access: {} },
  } as unknown as BatchWork; // as above
  return { cascade: new BatchCascade(work, mostBytes), runs };
};

it('C112: re-evaluates readers once at the end, however often instances change', async () => {
  const { cascade, runs } = cascadeUnderTest(1_000_000);
  for (let total = 0; total < 1_000; total += 1) await cascade.add([outcome(`o-${total % 100}`, total)]);
  expect(runs.count).toBe(0);
  await cascade.run();
  expect(runs.count).toBe(1);
  await cascade.run();
  expect(runs.count).toBe(1);
});

it('C112: re-evaluates readers once for each part of a batch that changes more than can be held', async () => {
  const { cascade, runs } = cascadeUnderTest(10_000);
  for (let total = 0; total < 100; total += 1) await cascade.add([outcome(`o-${total}`, total)]);
  const before = runs.count;
  expect(before).toBeGreaterThanOrEqual(2);
  expect(before).toBeLessThan(100 / 20);
  await cascade.run();
  expect(runs.count).toBe(before + 1);
});
