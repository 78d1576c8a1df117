import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { firstLine, runTypeScript } from '../typescript-program';

const PROGRAM = join(__dirname, 'draw-ports.ts');
/** Enough that independent draws would collide dozens of times. */
const PROCESSES = 4;
const PORTS_EACH = 250;

const end = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, 'exit');
  child.stdin?.end();
  await ended;
};

it('gives no port to two living processes', async () => {
  const children: ChildProcess[] = [];
  const draw = async (): Promise<number[]> => {
    const child = runTypeScript(PROGRAM, [String(PORTS_EACH)]);
    children.push(child);
    return JSON.parse(await firstLine(child)) as number[]; // written by that program
  };
  try {
    const drawn = (await Promise.all(Array.from({ length: PROCESSES }, draw))).flat();
    expect(drawn).toHaveLength(PROCESSES * PORTS_EACH);
    expect(new Set(drawn).size).toBe(drawn.length);
  } finally {
    await Promise.all(children.splice(0).map(end));
  }
});
