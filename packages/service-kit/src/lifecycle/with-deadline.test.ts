import { withDeadline } from './with-deadline';

const late = (): Error => new RangeError('late');

it('hands on the outcome of work that is done in time', async () => {
  await expect(withDeadline(Promise.resolve(5), 10_000, late)).resolves.toBe(5);
  await expect(withDeadline(Promise.reject(new TypeError('no')), 10_000, late)).rejects.toThrow('no');
});

it('gives up on work that is not, and does not mind that it fails later', async () => {
  let fail: (error: Error) => void = () => undefined;
  const work = new Promise<never>((_resolve, reject) => (fail = reject));
  await expect(withDeadline(work, 5, late)).rejects.toThrow('late');
  fail(new TypeError('too late to matter'));
  await new Promise((resolve) => setImmediate(resolve));
});
