'use strict';

const { relative } = require('node:path');
const { stripVTControlCharacters } = require('node:util');

/** Bounds of what is kept: a suite that breaks as a whole is told apart from one that fails here and there by its count. */
const MOST_FAILURES = 50;
const MOST_LINES = 6;
const MOST_LINE_CHARACTERS = 300;

/** A line of a stack that lies outside of what is tested. */
const FOREIGN_FRAME = /^\s+at .*(node_modules|<anonymous>|\(node:)/;

/** The first lines of a message that say something, without colours. */
const firstLines = (message) =>
  stripVTControlCharacters(message)
    .split('\n')
    .map((line) => line.trimEnd().slice(0, MOST_LINE_CHARACTERS))
    .filter((line) => line.trim() !== '' && !FOREIGN_FRAME.test(line))
    .slice(0, MOST_LINES);

/** Failures of one test file: its tests, and the file as a whole where it could not run or did not end well. */
const failuresOfFile = (directory, { testFilePath, testResults, testExecError, failureMessage }) => {
  const file = relative(directory, testFilePath);
  const failed = testResults.filter(({ status }) => status === 'failed');
  const failures = failed.map(({ fullName, failureMessages }) => ({
    file,
    title: fullName,
    message: firstLines(failureMessages.join('\n')),
  }));
  if (!testExecError) return failures;
  const message = firstLines(testExecError.stack || testExecError.message || failureMessage || '');
  return [...failures, { file, title: 'the file as a whole', message }];
};

/** The first fifty failures of a run of jest: the file relative to the directory, the full title, and the first lines of the message. */
exports.failuresOf = (directory, { testResults, runExecError }) => {
  const failures = testResults.flatMap((result) => failuresOfFile(directory, result));
  if (runExecError)
    failures.push({ file: '.', title: 'the run as a whole', message: firstLines(String(runExecError.message)) });
  return failures.slice(0, MOST_FAILURES);
};
