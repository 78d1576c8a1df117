import { atExit } from './at-exit';

describe('atExit', () => {
  it('listens once however much there is to do, and not at all when nothing is left', () => {
    const before = process.listenerCount('exit');
    const takeBack = Array.from({ length: 50 }, () => atExit(() => undefined));
    expect(process.listenerCount('exit')).toBe(before + 1);
    for (const forget of takeBack) forget();
    for (const forget of takeBack) forget();
    expect(process.listenerCount('exit')).toBe(before);
  });
});
