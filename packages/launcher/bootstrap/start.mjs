// `npm start`: installs, builds, then hands over to the launcher in this same process.
import { build, checkNode, install, requireBuilt, root } from './toolchain.mjs';

checkNode();
await install();
await build();
const { start } = requireBuilt('packages/launcher/dist/cli/start.js');
await start(root, process.argv.slice(2));
