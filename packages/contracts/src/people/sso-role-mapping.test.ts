import { compileValidator } from '../validator';
import { claimAt, evaluateMapping, SsoRoleMapping } from './sso-role-mapping';

describe('the claim at a path', () => {
  const claims = {
    'https://example.com/claims': { email: 'url' },
    a: { b: 1, 'c.d': 2 },
    'a.b': 3,
    e: { f: { g: 4 } },
    list: [{ h: 5 }],
    none: null,
  };
  it.each<[string, unknown]>([
    ['a.b', 3],
    ['https://example.com/claims.email', 'url'],
    ['toString', undefined],
    ['a.constructor', undefined],
    ['a.c.d', 2],
    ['e.f.g', 4],
    ['e.f', { g: 4 }],
    ['e.x', undefined],
    ['list.h', undefined],
    ['none', null],
    ['none.x', undefined],
    ['__proto__.toString', undefined],
    ['constructor', undefined],
    ['', undefined],
    ['.a', undefined],
    ['a.', undefined],
  ])('%s is %j', (path, found) => {
    expect(claimAt(claims, path)).toEqual(found);
  });

  it('is own: what a claim inherits is none', () => {
    const hostile = JSON.parse('{"__proto__": {"role": "admin"}}') as Record<string, unknown>;
    expect(claimAt(hostile, 'role')).toBeUndefined();
    expect(claimAt(hostile, '__proto__.role')).toBe('admin');
  });
});

describe('access', () => {
  const mapping = { access: { claimPath: 'groups', allowed: ['staff', '7', 'true'] } };
  it.each<[string, object]>([
    ['the value', { groups: 'staff' }],
    ['one of several', { groups: ['guests', 'staff'] }],
    ['a number', { groups: 7 }],
    ['a boolean', { groups: [true] }],
  ])('is allowed by %s', (_, claims) => {
    expect(evaluateMapping(mapping, { ...claims })).toEqual({ access: 'allowed' });
  });
  it.each<[string, object, string]>([
    ['no claim', {}, 'no claim "groups"'],
    ['an empty list', { groups: [] }, 'no claim "groups"'],
    ['an object', { groups: { staff: true } }, 'no claim "groups"'],
    ['another value', { groups: ['STAFF', 'staff '] }, 'No value of the claim "groups"'],
    ['a list within a list', { groups: [['staff']] }, 'no claim "groups"'],
    ['a text of a megabyte', { groups: 'staff'.repeat(200_000) }, 'no claim "groups"'],
  ])('is denied by %s, and nothing else is said', (_, claims, reason) => {
    const said = evaluateMapping({ ...mapping, role: { claimPath: 'x', mappings: [] } }, { ...claims });
    expect(said).toEqual({ access: 'denied', reason: expect.stringContaining(reason) });
  });
});

describe('the role', () => {
  const role = { claimPath: 'realm.roles', mappings: [{ value: 'boss', role: 'admin' }, { value: 'dev', role: 'editor' }] }; // prettier-ignore
  it.each<[unknown, string]>([
    [['dev', 'boss'], 'admin'],
    ['dev', 'editor'],
    ['other', 'developer'],
    [undefined, 'developer'],
  ])('of %j is %s: the first mapping that fits', (roles, expected) => {
    expect(evaluateMapping({ role }, { realm: { roles } }).role).toBe(expected);
  });
  it('is the default if nothing fits, and stays if no mapping is there', () => {
    expect(evaluateMapping({ role: { ...role, default: 'viewer' } }, {}).role).toBe('viewer');
    expect(evaluateMapping({}, { realm: { roles: 'boss' } })).toEqual({ access: 'allowed' });
  });
});

describe('user groups', () => {
  const mappings = [
    { value: 'north', groups: ['sales', 'north'] },
    { value: 'south', groups: ['sales', 'south'] },
    { value: 'head', groups: 'all' as const },
    { value: 'nowhere', groups: [] },
  ];
  const tenants = { claimPath: 'tenant', mappings };
  it.each<[unknown, object]>([
    [['south', 'north'], { userGroups: ['north', 'sales', 'south'], allGroups: false }],
    [['south', 'head'], { userGroups: [], allGroups: true }],
    ['nowhere', { userGroups: [], allGroups: false }],
    ['unknown', { userGroups: [], allGroups: false }],
    [undefined, { userGroups: [], allGroups: false }],
  ])('of %j are those of all mappings that fit', (tenant, expected) => {
    expect(evaluateMapping({ tenants }, { tenant })).toEqual({ access: 'allowed', ...expected });
  });
  it('are the default if nothing fits', () => {
    expect(evaluateMapping({ tenants: { ...tenants, default: 'all' } }, {})).toMatchObject({ allGroups: true });
    expect(evaluateMapping({ tenants: { ...tenants, default: ['rest'] } }, {})).toMatchObject({ userGroups: ['rest'] });
    expect(evaluateMapping({ tenants: { ...tenants, default: 'all' } }, { tenant: 'nowhere' })).toMatchObject({ allGroups: false }); // prettier-ignore
  });
});

it('a profile shows texts, numbers, booleans and lists of them, and nothing deep or long', () => {
  const fields = ['department', 'level', 'tags', 'boss', 'essay', 'absent'].map((field) => ({ claimPath: `hr.${field}`, field })); // prettier-ignore
  const hr = {
    department: 'Sales',
    level: 3,
    tags: ['a', { b: 1 }, true],
    boss: { name: 'x' },
    essay: 'x'.repeat(1_001),
  };
  expect(evaluateMapping({ profile: { fields } }, { hr }).profile).toEqual({ department: 'Sales', level: 3, tags: ['a', true] }); // prettier-ignore
});

describe('what may be saved', () => {
  const check = compileValidator(SsoRoleMapping);
  it('is a mapping of each kind, and none at all', () => {
    expect(check({}).ok).toBe(true);
    const full = {
      access: { claimPath: 'groups', allowed: ['staff'] },
      role: { claimPath: 'roles', mappings: [{ value: 'boss', role: 'admin' }], default: 'viewer' },
      tenants: { claimPath: 'tenant', mappings: [{ value: 'north', groups: ['north'] }], default: 'all' },
      profile: { fields: [{ claimPath: 'hr.department', field: 'department' }] },
    };
    expect(check(full).ok).toBe(true);
  });
  it.each<[string, unknown]>([
    ['an unknown part', { roles: {} }],
    ['nobody who is let in', { access: { claimPath: 'groups', allowed: [] } }],
    ['an empty path', { access: { claimPath: '', allowed: ['x'] } }],
    ['a path with NUL', { access: { claimPath: 'a\0b', allowed: ['x'] } }],
    ['groups that are text', { tenants: { claimPath: 't', mappings: [{ value: 'x', groups: 'everything' }] } }],
    ['a field that is a path', { profile: { fields: [{ claimPath: 'x', field: '__proto__.x' }] } }],
  ])('is not %s', (_, mapping) => {
    expect(check(mapping).ok).toBe(false);
  });
});
