import { resolve } from 'node:path';

/** The folder of this package, from `src` and from `dist` alike. */
export const packageRoot = resolve(__dirname, '..');

/** The checkout that this package is part of. */
export const checkoutRoot = resolve(packageRoot, '../..');
