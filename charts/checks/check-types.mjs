// `node check-types.mjs FOLDER MODULES OBJECTS`: validates objects (a file of JSON) by the types of packages in the folder, and prints each fault in one line.
// MODULES is JSON: kind -> module. The packages are modules of the other kind than the checks.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, modules, objects] = process.argv.slice(2);
const kinds = JSON.parse(modules);
const { resolve } = createRequire(join(folder, 'package.json'));
let count = 0;
for (const object of JSON.parse(readFileSync(objects, 'utf8'))) {
  const name = kinds[object.kind];
  if (name === undefined) continue;
  const found = (() => {
    try {
      return resolve(name);
    } catch {
      return join(folder, 'node_modules', `${name}.js`);
    }
  })();
  const { [object.kind]: Type } = await import(pathToFileURL(found).href);
  try {
    new Type(object).validate();
    count += 1;
  } catch (error) {
    process.stdout.write(`${object.kind} ${object.metadata.name}: ${error.message}\n`);
  }
}
process.stdout.write(`${count} valid\n`);
