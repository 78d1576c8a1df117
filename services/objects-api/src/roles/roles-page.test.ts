import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtInRoles, entitlementNames, entitlements, type Entitlement, operations } from '@decision/contracts';

const page = readFileSync(join(__dirname, '../../../../docs/roles.md'), 'utf8');
const roles = Object.entries(builtInRoles) as [string, readonly Entitlement[]][]; // its own entries

/** Who may do what: a row an entitlement, a column a built-in role. */
const rolesTable = (): string =>
  [
    `| entitlement | allows | ${roles.map(([name]) => name).join(' | ')} |`,
    `| --- | --- | ${roles.map(() => ':-:').join(' | ')} |`,
    ...entitlementNames.map(
      (name) =>
        `| \`${name}\` | ${entitlements[name]} | ${roles.map(([, held]) => (held.includes(name) ? 'yes' : '')).join(' | ')} |`,
    ),
  ].join('\n');

/** What each call asks for. */
const callsTable = (): string =>
  [
    '| call | entitlement |',
    '| --- | --- |',
    ...operations.map(({ method, path, entitlement }) => `| ${method.toUpperCase()} ${path} | ${entitlement === undefined ? 'none, no key' : `\`${entitlement}\``} |`), // prettier-ignore
  ].join('\n');

describe('docs/roles.md', () => {
  it('says who may do what, as the code does', () => {
    expect(page).toContain(`\n${rolesTable()}\n`);
  });

  it('says what each call asks for, as the code does', () => {
    expect(page).toContain(`\n${callsTable()}\n`);
  });
});

it('an admin may do everything', () => {
  expect([...builtInRoles.admin].sort()).toEqual([...entitlementNames].sort());
});
