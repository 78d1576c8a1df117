// `pnpm workspace:import <folder>`: imports a workspace kept as files into a running service.
import { join } from 'node:path';
import { checkNode, install, root, run } from './toolchain.mjs';

checkNode();
await install();
const code = await run(join(root, 'node_modules/.bin/tsx'), [
  '--conditions=source',
  join(root, 'packages/launcher/src/cli/import-workspace.ts'),
  ...process.argv.slice(2),
]);
process.exit(code);
