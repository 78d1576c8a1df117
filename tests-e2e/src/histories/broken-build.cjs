'use strict';

/*
 * Loaded into a process of contexts-api, or a worker, before everything else (`node --require`), it makes the broken build that `BROKEN_BUILD` names:
 * the checker of histories must catch each. A process whose code reads otherwise than expected here does not start.
 */
const { readFileSync } = require('node:fs');
const Module = require('node:module');

const persistence = (name) => `packages/persistence/src/contexts/${name}`;

/** By the name of the build: what is replaced by what in the part of the service that was made of a source. */
const BUILDS = {
  /** Write-backs do not ask whether the operation still holds the instance. */
  'write-back-without-fence': {
    file: persistence('admission.ts'),
    from: 'i.operation_id = cast(:operation as uuid) and i.fence = cast(cast(:fences as jsonb) ->> i.instance_id as bigint)',
    to: 'cast(:operation as uuid) is not null',
  },
  /** Merges read the row without holding it, so that the write of whoever came just before is lost. */
  'lost-predecessor': { file: persistence('admission.ts'), from: 'for update of i', to: '' },
  /** A take-over forgets the first instance of each operation, which then stays busy. */
  'partial-take-over': {
    file: persistence('instance-upkeep.ts'),
    from: /instance_ids\.map\(\(\w+, index\) => \[\w+, Number\(fences\[index\]\)\]\)/,
    to: 'instance_ids.map((id, index) => [id, Number(fences[index])]).slice(1)',
  },
  /** Executions count for whatever the facts are by now. */
  'stale-executions': {
    file: 'packages/contexts/src/rounds/settle.ts',
    from: /\.input_hash === this\.hashOf\(\w+\)/,
    to: '.input_hash !== undefined',
  },
  /** Steps of flows that run again forget what they have written. For workers. */
  'forgotten-steps': {
    file: persistence('entity-writes.ts'),
    from: 'select :key, cast(:context as uuid)',
    to: 'select :key || gen_random_uuid(), cast(:context as uuid)',
  },
  /** Reads answer what the process knew of an instance up to a second ago. */
  'stale-read': {
    file: persistence('instances.ts'),
    from: 'var findInstances =',
    to: `
var kept = new Map();
var findInstances = async (transaction, contextId, ids) => {
  const key = JSON.stringify([contextId, ids]);
  const known = kept.get(key);
  if (known !== undefined && Date.now() - known.at < 1_000) return known.rows;
  const rows = await findFresh(transaction, contextId, ids);
  kept.set(key, { at: Date.now(), rows });
  return rows;
};
var findFresh =`,
  },
};

const name = process.env.BROKEN_BUILD ?? '';
const build = Object.hasOwn(BUILDS, name) ? BUILDS[name] : undefined;
if (build === undefined) throw new Error(`BROKEN_BUILD must be one of: ${Object.keys(BUILDS).join(', ')}.`);

/** Replaces what the build changes in the text of a service, whose parts begin with a comment that names their source. */
const broken = (text) => {
  const begin = text.indexOf(`\n// ../../${build.file}\n`);
  if (begin < 0) throw new Error(`No part of the service is made of ${build.file}.`);
  const length = text.slice(begin + 1).search(/\n\/\/ (?:\.\.\/\.\.|src)\//);
  const end = length < 0 ? text.length : begin + 1 + length;
  const parts = text.slice(begin, end).split(build.from);
  if (parts.length !== 2)
    throw new Error(`Expected one place to break in ${build.file}, and found ${parts.length - 1}.`);
  return text.slice(0, begin) + parts.join(build.to) + text.slice(end);
};

const load = Module._extensions['.js'];
Module._extensions['.js'] = (module, path) =>
  path === process.argv[1] ? module._compile(broken(readFileSync(path, 'utf8')), path) : load(module, path);
