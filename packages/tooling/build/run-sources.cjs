'use strict';

/**
 * `node --conditions=source --require @decision/tooling/run-sources script.ts` runs sources: for tests that start processes and threads. Compiled
 * modules are kept, so that the next process loads them as quickly as built ones.
 */
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { join, resolve } = require('node:path');
const { threadId } = require('node:worker_threads');
const OPTIONS = require('./compiler-options.cjs');

const KEPT = resolve(__dirname, '../../../node_modules/.cache/compiled-sources');
const SETTINGS = JSON.stringify([require('@swc/core/package.json').version, OPTIONS]);

const compile = (filename, source) =>
  require('@swc/core').transformSync(source, { ...OPTIONS, filename, sourceMaps: 'inline' }).code;

/** Written under another name first: other processes read at the same time. */
const keep = (path, code) => {
  const temporary = `${path}.${process.pid}.${threadId}`;
  mkdirSync(KEPT, { recursive: true });
  writeFileSync(temporary, code);
  renameSync(temporary, path);
};

const compiled = (filename) => {
  const source = readFileSync(filename, 'utf8');
  const kept = join(KEPT, createHash('sha1').update(`${SETTINGS}\0${filename}\0${source}`).digest('hex'));
  try {
    return readFileSync(kept, 'utf8');
  } catch {
    const code = compile(filename, source);
    keep(kept, code);
    return code;
  }
};

process.setSourceMapsEnabled(true);
Module._extensions['.ts'] = (module, filename) => module._compile(compiled(filename), filename);
