/**
 * The part of a page in `docs/` between the lines `<!-- written: NAME -->` and `<!-- end of NAME -->`, without them. `pnpm docs` replaces it by the
 * text first; in all other runs a test compares the two. Throws where the page has no such lines.
 */
export function writtenPart(page: string, name: string, text: string): string;
