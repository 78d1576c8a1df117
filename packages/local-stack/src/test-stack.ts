import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { StackError } from './stack-options';

/** The servers that the tests of all packages share. */
interface TestStack {
  readonly databaseUrl: string;
  readonly cacheUrl: string;
  readonly mqBrokers: string;
  /**
   * A name that is unique across processes: the label's letters and digits, then 12 random ones; at most 33 characters of `[a-z0-9_]`,
   * beginning with a letter. Usable as a database's name or the prefix of topics or keys.
   */
  uniqueName(label: string): string;
}

/** Content of the file that `TEST_STACK` names. */
export interface TestStackAddresses {
  readonly databaseUrl: string;
  readonly cacheUrl: string;
  readonly mqBrokers: string;
}

const LABEL_LIMIT = 20;
const RANDOM_BYTES = 6;

/**
 * The running test servers, in a test. @throws {StackError} `no_test_stack` if the package's `jest.config.js` lacks the global setup of
 * this package.
 */
export const testStack = (): TestStack => {
  const path = process.env['TEST_STACK'];
  if (path === undefined || path === '') {
    throw new StackError(
      'no_test_stack',
      "TEST_STACK is not set: name '@decision/local-stack/jest/global-setup' and '.../global-teardown' in jest.config.js.",
    );
  }
  const { databaseUrl, cacheUrl, mqBrokers } = readAddresses(path);
  return { databaseUrl, cacheUrl, mqBrokers, uniqueName };
};

const readAddresses = (path: string): TestStackAddresses => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as TestStackAddresses; // Written by this package's command line.
  } catch (cause) {
    throw new StackError('no_test_stack', `The address file ${path}, named by TEST_STACK, cannot be read.`, { cause });
  }
};

const uniqueName = (label: string): string => {
  const plain = label
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .slice(0, LABEL_LIMIT);
  return `${plain === '' ? 't' : plain}_${randomBytes(RANDOM_BYTES).toString('hex')}`;
};
