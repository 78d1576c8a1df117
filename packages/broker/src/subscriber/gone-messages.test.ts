import { GoneMessages } from './gone-messages';

const following = (committed: () => Promise<ReadonlyMap<number, number>>) => {
  const told: number[] = [];
  return { told, gone: new GoneMessages(committed, (messages) => told.push(messages)) };
};
const settled = () => new Promise((resolve) => setImmediate(resolve));

it('tells of messages between what was committed and what arrives first, whichever is known first', async () => {
  const early = following(() => Promise.resolve(new Map([[0, 10]])));
  early.gone.assigned([0], []);
  await settled();
  early.gone.arrived(0, 25);
  early.gone.arrived(0, 26);
  expect(early.told).toEqual([15]);
  const late = following(async () => {
    await settled();
    return new Map([[0, 10]]);
  });
  late.gone.assigned([0], []);
  late.gone.arrived(0, 25);
  late.gone.arrived(0, 26);
  await settled();
  await settled();
  expect(late.told).toEqual([15]);
});

it('reports gaps between messages that arrive', () => {
  const { told, gone } = following(() => new Promise(() => undefined));
  gone.assigned([0, 1], []);
  for (const offset of [3, 4, 9, 10]) gone.arrived(0, offset);
  gone.arrived(1, 700);
  expect(told).toEqual([4]);
});

it('tells nothing if nothing was committed, if the broker cannot be asked, and of partitions that others read meanwhile', async () => {
  const nothing = following(() => Promise.resolve(new Map()));
  nothing.gone.assigned([0], []);
  await settled();
  nothing.gone.arrived(0, 25);
  const silent = following(() => Promise.reject(new Error('The broker is away.')));
  silent.gone.assigned([0], []);
  await settled();
  silent.gone.arrived(0, 25);
  silent.gone.assigned([], [0]);
  silent.gone.assigned([0], []);
  await settled();
  silent.gone.arrived(0, 99);
  expect([...nothing.told, ...silent.told]).toEqual([]);
});
