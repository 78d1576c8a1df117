import { freePort } from '../../src';

/** A program that reserves ports, prints them as JSON and keeps them until its standard input ends. */
const draw = async (count: number): Promise<void> => {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  process.stdout.write(`${JSON.stringify(ports)}\n`);
};

process.stdin.once('end', () => process.exit(0)).resume();
void draw(Number(process.argv[2]));
