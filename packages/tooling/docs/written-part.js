'use strict';

const { readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const DOCS = join(__dirname, '../../../docs');

/**
 * The part of a page in `docs/` between the lines `<!-- written: NAME -->` and `<!-- end of NAME -->`, without them. `pnpm docs` replaces it by the
 * text first; in all other runs a test compares the two. Throws where the page has no such lines.
 */
exports.writtenPart = (page, name, text) => {
  const path = join(DOCS, page);
  const [begin, end] = [`<!-- written: ${name} -->`, `<!-- end of ${name} -->`];
  const content = readFileSync(path, 'utf8');
  const [from, to] = [content.indexOf(begin) + begin.length, content.indexOf(end)];
  if (!content.includes(begin) || to < from)
    throw new Error(`docs/${page} has no lines ${begin} and ${end}; add them where the part belongs.`);
  if (process.env.WRITE_DOCS !== '1') return content.slice(from, to).trim();
  writeFileSync(path, `${content.slice(0, from)}\n\n${text}\n\n${content.slice(to)}`);
  return text;
};
