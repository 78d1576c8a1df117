'use strict';

/*
 * Loaded into a process before everything else (`node --require`), it makes a broken build of contexts-api: write-backs no longer ask whether
 * the operation still holds the instance. A process whose store reads otherwise than expected here does not start.
 */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { join } = require('node:path');

const STORE = join('packages', 'persistence', 'dist', 'contexts', 'fence.js');
const FENCE =
  'i.operation_id = cast(:operation as uuid) and i.fence = cast(cast(:fences as jsonb) ->> i.instance_id as bigint)';
const NO_FENCE = 'cast(:operation as uuid) is not null';

const load = Module._extensions['.js'];
Module._extensions['.js'] = (module, path) => {
  if (!path.endsWith(STORE)) return load(module, path);
  const parts = readFileSync(path, 'utf8').split(FENCE);
  if (parts.length !== 2) throw new Error(`Expected one fence in ${path}, and found ${parts.length - 1}.`);
  return module._compile(parts.join(NO_FENCE), path);
};
