import { version, versionRange } from '../argument';
import { type Condition, test } from '../condition';
import { type Operator, operatorsOf } from '../operator-entry';
import { compareVersions, isStrictVersion, parseVersion, type Version } from '../version';
import { satisfies } from '../version-range';

const operator = operatorsOf<string>('string');

/** A test of texts that are versions; any other text fails it. */
const parsed = (passes: (version: Version) => boolean): Condition<string> =>
  test((value) => {
    const came = parseVersion(value);
    return came !== undefined && passes(came);
  });

const compared = (to: Version, passes: (order: number) => boolean): Condition<string> =>
  parsed((came) => passes(compareVersions(came, to)));

/** Operators on versions. A text that is no version matches none of them. */
export const versionOperators: readonly Operator[] = [
  operator({
    op: 'version is greater than',
    args: [version('version')],
    meaning: 'Is a later version.',
    example: [['1.2.0'], '1.10.0', '1.2.0'],
    condition: (bound) => compared(bound, (order) => order > 0),
  }),
  operator({
    op: 'version is less than',
    args: [version('version')],
    meaning: 'Is an earlier version; a pre-release comes before its release.',
    example: [['1.2.0'], '1.2.0-rc.1', '1.2.0'],
    condition: (bound) => compared(bound, (order) => order < 0),
  }),
  operator({
    op: 'version is equal to',
    args: [version('version')],
    meaning: 'Is the same version, build metadata aside.',
    example: [['1.2.0'], '1.2.0+7', '1.2.1'],
    condition: (bound) => compared(bound, (order) => order === 0),
  }),
  operator({
    op: 'version is greater than or equal to',
    args: [version('version')],
    meaning: 'Is the version or a later one.',
    example: [['1.2.0'], '1.2.0', '1.1.9'],
    condition: (bound) => compared(bound, (order) => order >= 0),
  }),
  operator({
    op: 'version is less than or equal to',
    args: [version('version')],
    meaning: 'Is the version or an earlier one.',
    example: [['1.2.0'], '1.2.0', '1.2.1'],
    condition: (bound) => compared(bound, (order) => order <= 0),
  }),
  operator({
    op: 'version is between',
    args: [version('minVersion'), version('maxVersion')],
    meaning: 'Lies between two versions, both included.',
    example: [['1.0.0', '2.0.0'], '2.0.0', '2.0.1'],
    isInOrder: (low, high) => compareVersions(low, high) <= 0,
    condition: (low, high) => parsed((came) => compareVersions(came, low) >= 0 && compareVersions(came, high) <= 0),
  }),
  operator({
    op: 'is valid semantic version',
    args: [],
    meaning: 'Is a version to the letter of semantic versioning: three numbers, no leading v.',
    example: [[], '1.2.3-rc.1+7', '1.2'],
    condition: () => test(isStrictVersion),
  }),
  operator({
    op: 'satisfies version range',
    args: [versionRange('range')],
    meaning:
      'Lies in a range as package managers write them: >=1.2.0 <2.0.0, ^1.2, ~1.2.3, 1.x, 1.2 - 2.3, or several with ||.',
    example: [['^1.2.0'], '1.9.3', '2.0.0'],
    condition: (range) => parsed((came) => satisfies(came, range)),
  }),
];
