'use strict';

/*
 * Loaded into a process of contexts-api, or a worker, before everything else (`node --require`), it makes the broken build that `BROKEN_BUILD` names:
 * the checker of histories must catch each. A process whose code reads otherwise than expected here does not start.
 */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { join } = require('node:path');

const persistence = (name) => join('packages', 'persistence', 'dist', 'contexts', name);

/** By the name of the build: in which file what is replaced by what. */
const BUILDS = {
  /** Write-backs do not ask whether the operation still holds the instance. */
  'write-back-without-fence': {
    file: persistence('admission.js'),
    from: 'i.operation_id = cast(:operation as uuid) and i.fence = cast(cast(:fences as jsonb) ->> i.instance_id as bigint)',
    to: 'cast(:operation as uuid) is not null',
  },
  /** Merges read the row without holding it, so that the write of whoever came just before is lost. */
  'lost-predecessor': { file: persistence('admission.js'), from: 'for update of i', to: '' },
  /** A take-over forgets the first instance of each operation, which then stays busy. */
  'partial-take-over': {
    file: persistence('instance-upkeep.js'),
    from: /instance_ids\.map\(\(id, index\)\s*=>\s*\[\s*id,\s*Number\(fences\[index\]\)\s*\]\)/,
    to: 'instance_ids.map((id, index) => [id, Number(fences[index])]).slice(1)',
  },
  /** Executions count for whatever the facts are by now. */
  'stale-executions': {
    file: join('packages', 'contexts', 'dist', 'rounds', 'settle.js'),
    from: 'last.input_hash === inputHash',
    to: 'last.input_hash !== undefined',
  },
  /** Steps of flows that run again forget what they have written. For workers. */
  'forgotten-steps': {
    file: persistence('entity-writes.js'),
    from: 'select :key, cast(:context as uuid)',
    to: 'select :key || gen_random_uuid(), cast(:context as uuid)',
  },
  /** Reads answer what the process knew of an instance up to a second ago. */
  'stale-read': {
    file: persistence('instances.js'),
    from: 'const findInstances =',
    to: `
const kept = new Map();
const findInstances = async (transaction, contextId, ids) => {
  const key = JSON.stringify([contextId, ids]);
  const known = kept.get(key);
  if (known !== undefined && Date.now() - known.at < 1_000) return known.rows;
  const rows = await findFresh(transaction, contextId, ids);
  kept.set(key, { at: Date.now(), rows });
  return rows;
};
const findFresh =`,
  },
};

const name = process.env.BROKEN_BUILD ?? '';
const build = Object.hasOwn(BUILDS, name) ? BUILDS[name] : undefined;
if (build === undefined) throw new Error(`BROKEN_BUILD must be one of: ${Object.keys(BUILDS).join(', ')}.`);

const broken = (text) => {
  const parts = text.split(build.from);
  if (parts.length !== 2)
    throw new Error(`Expected one place to break in ${build.file}, and found ${parts.length - 1}.`);
  return parts.join(build.to);
};

// At once, also where the process would never load the file: a build that is not broken would prove nothing.
broken(readFileSync(join(__dirname, '..', '..', '..', build.file), 'utf8'));

const load = Module._extensions['.js'];
Module._extensions['.js'] = (module, path) =>
  path.endsWith(build.file) ? module._compile(broken(readFileSync(path, 'utf8')), path) : load(module, path);
