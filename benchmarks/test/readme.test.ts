import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(__dirname, '..');
const readme = readFileSync(join(folder, 'README.md'), 'utf8');
const namesIn = (text: string, pattern: RegExp): readonly string[] =>
  [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].sort();

describe('the README', () => {
  it('lists each command', () => {
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { scripts: object };
    const commands = Object.keys(scripts).filter((name) => name !== 'test');
    expect(namesIn(readme, /^\| `([a-z-]+)` /gm)).toEqual(commands.sort());
  });

  it('lists each option', () => {
    const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ts'),
    );
    const code = sources.map((path) => readFileSync(join(folder, 'src', path), 'utf8')).join('\n');
    expect(namesIn(readme, /`(BENCH_[A-Z_]+)`/g)).toEqual(namesIn(code, /'(BENCH_[A-Z_]+)'/g));
  });
});
