import { SettledRound } from './settled-round';

const hasSettled = async (round: SettledRound): Promise<boolean> => {
  await new Promise((resolve) => setImmediate(resolve));
  return round.settled() === undefined;
};

it('is settled when each of its records is', async () => {
  const round = new SettledRound(undefined);
  const settle = round.endsAfter(2);
  const told = round.settled();
  settle();
  expect(await hasSettled(round)).toBe(false);
  settle();
  expect(await hasSettled(round)).toBe(true);
  await told;
});

it('is not settled before earlier rounds, in whatever order records settle', async () => {
  const first = new SettledRound(undefined);
  const second = new SettledRound(first);
  const settleFirst = first.endsAfter(1);
  second.endsAfter(1)();
  expect(await hasSettled(second)).toBe(false);
  settleFirst();
  expect(await hasSettled(second)).toBe(true);
  expect(second.before()).toBeUndefined();
});
