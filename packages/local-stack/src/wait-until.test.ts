import { waitUntil } from './wait-until';

it('asks again until the condition holds', async () => {
  let asked = 0;
  await waitUntil(() => (asked += 1) === 3);
  await waitUntil(() => Promise.resolve((asked += 1) === 6));
  expect(asked).toBe(6);
});

it('fails after the limit, says for what it waited, and shows the line of its caller', async () => {
  let seen = 0;
  for (const what of ['1 is up', () => `${(seen += 1)} is up`]) {
    const waitInVain = (): Promise<void> => waitUntil(() => false, what, 30);
    const error = await waitInVain().catch((late: unknown) => late as Error);
    expect(error).toMatchObject({ message: 'Waited 0.03 s in vain until 1 is up.' });
    const [first, second] = String((error as Error).stack).split('\n');
    expect(first).toBe('Error: Waited 0.03 s in vain until 1 is up.');
    expect(second).toContain('waitInVain');
  }
});

it('ends with the error of the condition', async () => {
  await expect(waitUntil(() => Promise.reject(new TypeError('no')))).rejects.toThrow(TypeError);
});
