import { builtInRoles, entitlementNames, entitlements, type Entitlement, operations } from '@decision/contracts';
import { writtenPart } from '@decision/tooling/written-part';

const roles = Object.entries(builtInRoles) as [string, readonly Entitlement[]][]; // its own entries

/** Entitlements by role: a row for each entitlement, a column for each built-in role. */
const rolesTable = (): string =>
  [
    `| entitlement | allows | ${roles.map(([name]) => name).join(' | ')} |`,
    `| --- | --- | ${roles.map(() => ':-:').join(' | ')} |`,
    ...entitlementNames.map(
      (name) =>
        `| \`${name}\` | ${entitlements[name]} | ${roles.map(([, held]) => (held.includes(name) ? 'yes' : '')).join(' | ')} |`,
    ),
  ].join('\n');

/** Entitlement that each call requires. */
const callsTable = (): string =>
  [
    '| call | entitlement |',
    '| --- | --- |',
    ...operations.map(({ method, path, entitlement }) => `| ${method.toUpperCase()} ${path} | ${entitlement === undefined ? 'none, no key' : `\`${entitlement}\``} |`), // prettier-ignore
  ].join('\n');

describe('docs/roles.md', () => {
  it('says who may do what, as the code does', () => {
    expect(writtenPart('roles.md', 'entitlements', rolesTable())).toBe(rolesTable());
  });

  it('says what each call asks for, as the code does', () => {
    expect(writtenPart('roles.md', 'calls', callsTable())).toBe(callsTable());
  });
});

it('an admin may do everything', () => {
  expect([...builtInRoles.admin].sort()).toEqual([...entitlementNames].sort());
});
