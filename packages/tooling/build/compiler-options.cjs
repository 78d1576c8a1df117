'use strict';

/** How a module is compiled wherever Node runs it: as tests compile it, but for Node's own `import()`, which loads what cannot be required. */
module.exports = {
  swcrc: false,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'commonjs', ignoreDynamic: true },
};
