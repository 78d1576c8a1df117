import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canInstallPackages, installPackages } from './debian-packages';

/** A package manager that records its arguments, and knows every package but one. */
const FAKE = `#!/bin/sh
echo "$@" >>"$0.calls"
case "$*" in *no-such-package*) echo "E: Unable to locate package" >&2; exit 100;; esac
`;

describe('installPackages', () => {
  const given = process.env['PATH'];
  let programs: string;

  beforeAll(() => {
    programs = mkdtempSync(join(tmpdir(), 'local-stack-test-'));
    writeFileSync(join(programs, 'apt-get'), FAKE);
    chmodSync(join(programs, 'apt-get'), 0o755);
    process.env['PATH'] = programs;
  });
  afterAll(() => {
    process.env['PATH'] = given;
    rmSync(programs, { recursive: true });
  });

  it('updates the lists once, one call at a time, and installs the first package that exists', async () => {
    await Promise.all([installPackages(['no-such-package', 'some-package']), installPackages(['other-package'])]);
    const calls = readFileSync(join(programs, 'apt-get.calls'), 'utf8').trimEnd().split('\n');
    const install = 'install --yes --no-install-recommends';
    expect(calls.map((call) => call.replace(/^--quiet -o \S+ /, ''))).toEqual([
      'update',
      `${install} no-such-package`,
      `${install} some-package`,
      `${install} other-package`,
    ]);
  });

  it('reports what it could not install, and why', async () => {
    const failed = installPackages(['no-such-package']);
    await expect(failed).rejects.toMatchObject({ code: 'missing_program' });
    await expect(failed).rejects.toThrow(/could not install no-such-package:\nE: Unable to locate package/);
    await installPackages(['some-package']);
  });

  it('cannot install packages without apt-get', () => {
    process.env['PATH'] = '/no/such/place';
    expect(canInstallPackages()).toBe(false);
  });
});
