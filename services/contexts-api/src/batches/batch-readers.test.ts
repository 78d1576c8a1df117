import { type InstanceOutcome } from '../operations/work';
import { BatchReaders } from './batch-readers';
import { type BatchWork } from './carry-out-chunk';

/** A changed instance of a context that another one reads. */
const outcome = (instanceId: string, total: number) =>
  ({
    ...{ instanceId, version: 1, readerPass: undefined, resolved: { state: { total } } },
    context: { id: 'orders', revision: '1', world: { relationships: [{ toContextId: 'orders' }] } },
  }) as unknown as InstanceOutcome; // what telling readers looks at

/** Readers of a batch; `tellings` counts how often they were looked for: there are none. */
const readersOf = (mostBytes: number) => {
  const tellings = { count: 0 };
  const work = {
    context: {
      database: {
        inWorkspace: () => {
          tellings.count += 1;
          return Promise.resolve([]);
        },
      },
    },
    origin: { access: {} },
  } as unknown as BatchWork; // as above
  return { readers: new BatchReaders(work, mostBytes), tellings };
};

it('C112: readers are told once at the end, however often instances change', async () => {
  const { readers, tellings } = readersOf(1_000_000);
  for (let total = 0; total < 1_000; total += 1) await readers.add([outcome(`o-${total % 100}`, total)]);
  expect(tellings.count).toBe(0);
  await readers.tell();
  expect(tellings.count).toBe(1);
  await readers.tell();
  expect(tellings.count).toBe(1);
});

it('C112: of a batch that changes more than can be held, the readers of each part are told', async () => {
  const { readers, tellings } = readersOf(10_000);
  for (let total = 0; total < 100; total += 1) await readers.add([outcome(`o-${total}`, total)]);
  const before = tellings.count;
  expect(before).toBeGreaterThanOrEqual(2);
  expect(before).toBeLessThan(100 / 20);
  await readers.tell();
  expect(tellings.count).toBe(before + 1);
});
