// `npm start`: installs, builds, then hands over to the launcher in this same process.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, checkNode, install, root } from './toolchain.mjs';

checkNode();
await install();
await build();
const { start } = await import(pathToFileURL(join(root, 'packages/launcher/dist/cli/start.js')));
await start(root);
