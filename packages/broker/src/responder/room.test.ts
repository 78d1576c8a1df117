import { Room } from './room';

const settled = async (promise: Promise<void>): Promise<boolean> => {
  let done = false;
  void promise.then(() => (done = true));
  await new Promise((resolve) => setImmediate(resolve));
  return done;
};

describe('Room', () => {
  it('is full at its bound of items until half have left', async () => {
    const room = new Room({ items: 4, bytes: Infinity });
    for (let index = 0; index < 3; index += 1) room.enter(1);
    expect(room.isFull()).toBe(false);
    room.enter(1);
    expect(room.isFull()).toBe(true);
    const waited = room.hasRoom();
    room.leave(1);
    expect([room.isFull(), await settled(waited)]).toEqual([true, false]);
    room.leave(1);
    expect([room.isFull(), await settled(waited)]).toEqual([false, true]);
  });

  it('is full at its bound of bytes', async () => {
    const room = new Room({ items: Infinity, bytes: 100 });
    room.enter(99);
    expect(room.isFull()).toBe(false);
    room.enter(1);
    expect(room.isFull()).toBe(true);
    room.leave(99);
    expect(room.isFull()).toBe(false);
    await room.hasRoom();
  });

  it('lets one thing in that is larger than the room', () => {
    const room = new Room({ items: 10, bytes: 100 });
    room.enter(5_000);
    expect(room.isFull()).toBe(true);
    room.leave(5_000);
    expect([room.isFull(), room.items, room.bytes]).toEqual([false, 0, 0]);
  });

  it('reports when it is empty', async () => {
    const room = new Room({ items: 10, bytes: 100 });
    await room.isEmpty();
    room.enter(1);
    room.enter(1);
    const emptied = room.isEmpty();
    room.leave(1);
    expect(await settled(emptied)).toBe(false);
    room.leave(1);
    expect(await settled(emptied)).toBe(true);
  });
});
