import { isNewEnough, jarEntryFor } from './redis-binary';

describe('isNewEnough', () => {
  it.each([
    ['Redis server v=7.0.15 sha=00000000:0 malloc=libc bits=64 build=dbad', true],
    ['Redis server v=6.2.0 sha=00000000:0', true],
    ['Redis server v=6.0.16 sha=00000000:0', false],
    ['Redis server v=5.9.9 sha=00000000:0', false],
    ['Valkey server v=8.1.0 sha=00000000:0', true],
    ['Redis server v=10.0.0', true],
    ['', false],
  ])('%j: %s', (answer, expected) => {
    expect(isNewEnough(answer)).toBe(expected);
  });
});

describe('jarEntryFor', () => {
  it.each([
    ['linux', 'x64', 'redis-server-7.0.15-linux-amd64'],
    ['linux', 'arm64', 'redis-server-7.0.15-linux-arm64'],
    ['darwin', 'x64', 'redis-server-7.0.15-darwin-amd64'],
    ['darwin', 'arm64', 'redis-server-7.0.15-darwin-arm64'],
  ])('%s on %s is %s', (platform, architecture, expected) => {
    expect(jarEntryFor(platform, architecture)).toBe(expected);
  });

  it.each([
    ['win32', 'x64'],
    ['linux', 'riscv64'],
  ])('refuses %s on %s and names the way out', (platform, architecture) => {
    expect(() => jarEntryFor(platform, architecture)).toThrow(/install redis-server, or set CACHE_URL/);
  });
});
