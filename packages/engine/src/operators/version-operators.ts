import { version, versionRange } from './argument';
import { type Condition, test, testOfForm, type VersionBound } from './condition';
import { type Operator, operatorsOf } from './operator-entry';
import { compareVersions, isStrictVersion, satisfies, type Version } from './version';

const operator = operatorsOf<string>('string');

const versions = (from: VersionBound | undefined, to: VersionBound | undefined): Condition => ({
  form: 'version',
  kind: 'versions',
  ...(from && { from }),
  ...(to && { to }),
});

const including = (of: Version): VersionBound => ({ version: of, isIncluded: true });
const excluding = (of: Version): VersionBound => ({ version: of, isIncluded: false });

/** Operators on versions. A text that is not a version matches none of them. */
export const versionOperators: readonly Operator[] = [
  operator({
    op: 'version is greater than',
    args: [version('version')],
    meaning: 'Is a later version.',
    example: [['1.2.0'], '1.10.0', '1.2.0'],
    condition: (bound) => versions(excluding(bound), undefined),
  }),
  operator({
    op: 'version is less than',
    args: [version('version')],
    meaning: 'Is an earlier version; a pre-release comes before its release.',
    example: [['1.2.0'], '1.2.0-rc.1', '1.2.0'],
    condition: (bound) => versions(undefined, excluding(bound)),
  }),
  operator({
    op: 'version is equal to',
    args: [version('version')],
    meaning: 'Is the same version, build metadata aside.',
    example: [['1.2.0'], '1.2.0+7', '1.2.1'],
    condition: (bound) => versions(including(bound), including(bound)),
  }),
  operator({
    op: 'version is greater than or equal to',
    args: [version('version')],
    meaning: 'Is the version or a later one.',
    example: [['1.2.0'], '1.2.0', '1.1.9'],
    condition: (bound) => versions(including(bound), undefined),
  }),
  operator({
    op: 'version is less than or equal to',
    args: [version('version')],
    meaning: 'Is the version or an earlier one.',
    example: [['1.2.0'], '1.2.0', '1.2.1'],
    condition: (bound) => versions(undefined, including(bound)),
  }),
  operator({
    op: 'version is between',
    args: [version('minVersion'), version('maxVersion')],
    meaning: 'Lies between two versions, both included.',
    example: [['1.0.0', '2.0.0'], '2.0.0', '2.0.1'],
    isInOrder: (low, high) => compareVersions(low, high) <= 0,
    condition: (low, high) => versions(including(low), including(high)),
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
      'Lies in a range as package managers write them: >=1.2.0 <2.0.0, ^1.2, ~1.2.3, 1.x, 1.2 - 2.3, or several with ||; a pre-release only where the range names one of the same three numbers.',
    example: [['^1.2.0'], '1.9.3', '2.0.0'],
    condition: (range) => testOfForm('version', (came: Version) => satisfies(came, range)),
  }),
];
