import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testStack } from './test-stack';

describe('testStack', () => {
  const given = process.env['TEST_STACK'];
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'local-stack-test-'));
  });
  afterEach(() => {
    process.env['TEST_STACK'] = given;
    rmSync(directory, { recursive: true });
  });

  const useFile = (content: string): void => {
    process.env['TEST_STACK'] = join(directory, 'addresses.json');
    writeFileSync(process.env['TEST_STACK'], content);
  };

  it('reads the addresses from the file', () => {
    const addresses = { databaseUrl: 'postgres://x', cacheUrl: 'redis://y', mqBrokers: 'z:1' };
    useFile(JSON.stringify(addresses));
    expect(testStack()).toMatchObject(addresses);
  });

  it('says what is missing if the variable is not set', () => {
    process.env['TEST_STACK'] = '';
    expect(testStack).toThrow(/jest\/global-setup.* in jest\.config\.js/);
  });

  it('names a file that cannot be read', () => {
    useFile('{');
    expect(testStack).toThrow(/addresses\.json, named by TEST_STACK, cannot be read/);
  });

  describe('uniqueName', () => {
    const uniqueName = (label: string): string => {
      useFile('{}');
      return testStack().uniqueName(label);
    };

    it.each([
      ['gateway', /^gateway_[0-9a-f]{12}$/],
      ['Solve Path (1)', /^solve_path_1__[0-9a-f]{12}$/],
      ['9 lives', /^lives_[0-9a-f]{12}$/],
      ['', /^t_[0-9a-f]{12}$/],
      ['ÄÖ"; DROP', /^drop_[0-9a-f]{12}$/],
      ['x'.repeat(500), /^x{20}_[0-9a-f]{12}$/],
    ])('of %j', (label, expected) => {
      expect(uniqueName(label)).toMatch(expected);
    });

    it('is always different', () => {
      expect(new Set(Array.from({ length: 1_000 }, () => uniqueName('a'))).size).toBe(1_000);
    });
  });
});
