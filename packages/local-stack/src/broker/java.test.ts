import { majorVersion } from './java';

describe('majorVersion', () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17],
    ['openjdk version "21" 2023-09-19', 21],
    ['openjdk version "26-ea" 2026-03-17', 26],
    ['java version "11.0.2" 2019-01-15 LTS', 11],
    ['java version "1.8.0_392"', 8],
    ['Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "17.0.1"', 17],
    ['The operation couldn’t be completed. Unable to locate a Java Runtime.', 0],
    ['', 0],
  ])('of %j is %d', (answer, expected) => {
    expect(majorVersion(answer)).toBe(expected);
  });
});
