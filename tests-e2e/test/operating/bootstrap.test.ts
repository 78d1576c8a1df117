import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = join(__dirname, '../../..');

it.each([
  ['npm start', 'packages/launcher/dist/cli/start.js', 'start'],
  ['npm run reset', 'packages/local-stack/dist/index.js', 'stackLocations'],
  ['pnpm service', 'packages/local-stack/dist/index.js', 'freePort'],
])('%s finds the function that it uses in %s', async (_command, file, name) => {
  const toolchain = pathToFileURL(join(root, 'packages/launcher/bootstrap/toolchain.mjs')).href;
  const program = `import { requireBuilt } from '${toolchain}'; console.log(typeof requireBuilt('${file}').${name});`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  expect(stdout).toBe('function\n');
});
