import { Fifo } from './fifo';

describe('Fifo', () => {
  it('gives items in order, however they come and go', () => {
    const fifo = new Fifo<number>();
    const taken: number[] = [];
    for (let index = 0; index < 10_000; index += 1) {
      fifo.push(index);
      if (index % 3 > 0) taken.push(fifo.shift() ?? -1);
    }
    expect(fifo.length).toBe(10_000 - taken.length);
    expect(fifo.peek()).toBe(taken.length);
    for (let item = fifo.shift(); item !== undefined; item = fifo.shift()) taken.push(item);
    expect(taken).toEqual(Array.from({ length: 10_000 }, (_, index) => index));
  });

  it('is empty without items', () => {
    const fifo = new Fifo<string>();
    expect([fifo.length, fifo.peek(), fifo.shift()]).toEqual([0, undefined, undefined]);
  });

  it('has every item that was not removed, in order', () => {
    const fifo = new Fifo(['a', 'b']);
    fifo.push('c');
    expect(fifo.shift()).toBe('a');
    expect(fifo.all()).toEqual(['b', 'c']);
    expect(fifo.length).toBe(2);
  });
});
