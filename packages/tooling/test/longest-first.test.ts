import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { repositoryRoot } from './source-tree';

/** The part of a test file that its order depends on. */
interface Ordered {
  readonly path: string;
}

// Plain JavaScript, which jest loads itself.
const { LONGEST, longestFirst } = createRequire(__filename)('../jest/longest-first.js') as {
  readonly LONGEST: readonly string[];
  readonly longestFirst: (tests: readonly Ordered[]) => Ordered[];
};

it('names files that exist', () => {
  expect(LONGEST.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([]);
});

it('begins with the files that are named, in their order, and leaves the others as they are', () => {
  const [first = '', second = ''] = LONGEST;
  const tests = ['z.test.ts', second, 'a.test.ts', first].map((path) => ({ path: join(repositoryRoot, path) }));
  expect(longestFirst(tests)).toEqual([tests[3], tests[1], tests[0], tests[2]]);
});
