// Compiles `src/` of the package in the working directory to CommonJS in `dist/`, each file alone and without looking at types:
// `pnpm typecheck` checks the types of all packages as one program, and declarations are not needed, since packages see each other's sources
// (decision 2).
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { transformFile } from '@swc/core';
import COMPILER_OPTIONS from './compiler-options.cjs';

const SOURCE = 'src';
const OUTPUT = 'dist';

const OPTIONS = { ...COMPILER_OPTIONS, sourceMaps: true, inlineSourcesContent: false };

const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const isCompiled = (path) => path.endsWith('.ts') && !path.endsWith('.test.ts');

/** Writes a module and its source map; resolves with their paths. */
const compile = async (source) => {
  const script = join(OUTPUT, relative(SOURCE, source)).replace(/\.ts$/, '.js');
  const sourceFileName = relative(dirname(script), source);
  const { code, map } = await transformFile(source, { ...OPTIONS, sourceFileName, outputPath: script });
  mkdirSync(dirname(script), { recursive: true });
  writeFileSync(script, `${code}//# sourceMappingURL=${basename(script)}.map\n`);
  writeFileSync(`${script}.map`, map);
  return [script, `${script}.map`];
};

const written = new Set((await Promise.all(filesBelow(SOURCE).filter(isCompiled).map(compile))).flat());
// A source that was moved or deleted leaves nothing behind.
for (const path of filesBelow(OUTPUT)) if (!written.has(path)) rmSync(path);
