// `pnpm check:charts`: renders and checks the charts, where Go or Helm is found, and says so in one line where not.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import tools from './tools.js';

if (tools.findGo() === undefined && tools.findHelm() === undefined) {
  process.stdout.write('The charts were not checked: neither Go nor Helm is found here.\n');
} else {
  const here = dirname(fileURLToPath(import.meta.url));
  const jest = join(dirname(createRequire(import.meta.url).resolve('jest/package.json')), 'bin/jest.js');
  const arguments_ = [jest, '--config', join(here, 'jest.config.js'), ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, arguments_, { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
