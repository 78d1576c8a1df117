'use strict';

/**
 * fast-check as tests import it: its random cases are those of the seed of the run, which its own report of a failure names too.
 */
const fastCheck = require('fast-check/unseeded');

fastCheck.configureGlobal({ seed: Number(process.env.TEST_SEED) });

module.exports = fastCheck;
