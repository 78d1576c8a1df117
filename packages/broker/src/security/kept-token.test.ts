import { keepToken, type Token } from './kept-token';

const source = (lives: readonly (number | Error)[]) => {
  let time = 1_000_000;
  let asked = 0;
  const token = keepToken(
    (): Promise<Token> => {
      const life = lives[asked++] ?? 0;
      if (life instanceof Error) return Promise.reject(life);
      return Promise.resolve({ value: `token ${asked}`, expiresAt: time + life });
    },
    () => time,
  );
  return { token, asked: () => asked, pass: (ms: number) => (time += ms) };
};

it('keeps a token until a minute before its end', async () => {
  const { token, pass } = source([300_000, 300_000]);
  expect(await token()).toBe('token 1');
  pass(239_999);
  expect(await token()).toBe('token 1');
  pass(1);
  expect(await token()).toBe('token 2');
});

it('renews a short one at half its life', async () => {
  const { token, pass } = source([20_000, 20_000]);
  await token();
  pass(9_999);
  expect(await token()).toBe('token 1');
  pass(1);
  expect(await token()).toBe('token 2');
});

it('keeps one without an end', async () => {
  const { token, pass } = source([Infinity]);
  await token();
  pass(1e12);
  expect(await token()).toBe('token 1');
});

it('asks once for all that wait', async () => {
  const { token, asked } = source([300_000]);
  expect(await Promise.all([token(), token(), token()])).toEqual(['token 1', 'token 1', 'token 1']);
  expect(asked()).toBe(1);
});

it('asks again after a failure', async () => {
  const { token } = source([new Error('no'), 300_000]);
  await expect(Promise.all([token(), token()])).rejects.toThrow('no');
  expect(await token()).toBe('token 2');
});
