'use strict';

module.exports = { preset: '@decision/tooling' };
