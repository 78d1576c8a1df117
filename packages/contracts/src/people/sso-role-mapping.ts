import { type Static, Type } from '@sinclair/typebox';

/** Claims of a token: statements of a directory about a person. Names such as `__proto__` are ordinary names: read with {@link claimAt} only. */
export type Claims = Readonly<Record<string, unknown>>;

const claimPath = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000]+$',
  description:
    'Where the claim stands: names joined by dots lead into objects, so that `realm_access.roles` is `roles` within `realm_access`. A claim whose name holds the dots itself comes first.',
  examples: ['groups'],
});

const value = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description:
    'Value of the claim, or one of its values where it is a list. Numbers and booleans are compared by their text.',
  examples: ['rules-admins'],
});

const names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 200, description: 'Name of a user group.' }), {
    maxItems: 1_000,
    description,
  });

const groups = (description: string) =>
  Type.Union(
    [
      Type.Literal('all', { description: 'Everything, whatever its groups.' }),
      names('Names of user groups, which must exist; none at all: nothing is seen.'),
    ],
    { description },
  );

const closed = { additionalProperties: false } as const;

/**
 * Interpretation of the claims of a person's token (specification: "User lifecycle", rules 4 to 6). It is saved on the administrator's row, and
 * applied to everybody else at each sign-in.
 */
export const SsoRoleMapping = Type.Object(
  {
    access: Type.Optional(
      Type.Object(
        {
          claimPath,
          allowed: Type.Array(value, {
            minItems: 1,
            maxItems: 10_000,
            description: 'Values that are admitted. A person with none of them, or without the claim, is refused.',
          }),
        },
        { ...closed, description: 'Who is let in. Absent: everybody whom the proxy or the directory lets in.' },
      ),
    ),
    role: Type.Optional(
      Type.Object(
        {
          claimPath,
          mappings: Type.Array(
            Type.Object(
              {
                value,
                role: Type.String({
                  minLength: 1,
                  maxLength: 200,
                  description: 'Role of the workspace that it gives.',
                }),
              },
              { ...closed, description: 'One value and the role that it gives.' },
            ),
            { maxItems: 10_000, description: 'The first whose value the claim has counts.' },
          ),
          default: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 200,
              description: 'Role of a person with none of the values. Default: `developer`.',
            }),
          ),
        },
        {
          ...closed,
          description:
            'Which role a person has. Absent: the role that the person has already; a new one is a `developer`.',
        },
      ),
    ),
    tenants: Type.Optional(
      Type.Object(
        {
          claimPath,
          mappings: Type.Array(
            Type.Object(
              { value, groups: groups('What the value lets a person see.') },
              { ...closed, description: 'One value and the user groups that it gives.' },
            ),
            { maxItems: 10_000, description: 'All whose values the claim has count together.' },
          ),
          default: Type.Optional(groups('What a person with none of the values sees. Default: nothing.')),
        },
        {
          ...closed,
          description:
            'Which user groups a person has. Absent: those that the person has already; a new one sees everything.',
        },
      ),
    ),
    profile: Type.Optional(
      Type.Object(
        {
          fields: Type.Array(
            Type.Object(
              {
                claimPath,
                field: Type.String({
                  pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$',
                  description: 'Name of the field of the profile: letters, digits and underscores.',
                }),
              },
              { ...closed, description: 'One claim and the field that it fills.' },
            ),
            { maxItems: 100, description: 'Claims that are shown as the profile of a person.' },
          ),
        },
        { ...closed, description: 'What a profile shows: texts, numbers and booleans, and lists of them.' },
      ),
    ),
  },
  { $id: 'SsoRoleMapping', ...closed, description: 'What the claims of a token mean here.' },
);
export type SsoRoleMapping = Static<typeof SsoRoleMapping>;

/** Result of a mapping for a person with certain claims; absent parts stay unchanged. */
interface MappedClaims {
  readonly access: 'allowed' | 'denied';
  /** Why access is denied, as a sentence. */
  readonly reason?: string;
  readonly role?: string;
  /** Sorted and distinct. */
  readonly userGroups?: readonly string[];
  readonly allGroups?: boolean;
  readonly profile?: Claims;
}

const DEFAULT_ROLE = 'developer';
/** Maximum number of characters of a text in a profile, and of entries in a list. */
const MAX_TEXT = 1_000;
const MAX_ENTRIES = 100;

/** Applies a mapping to claims. Hostile claims are values like any other: only own members count, and a claim without a text form is no value. */
export const evaluateMapping = (mapping: SsoRoleMapping, claims: Claims): MappedClaims => {
  const denied = denialOf(mapping, claims);
  if (denied !== undefined) return { access: 'denied', reason: denied };
  return { access: 'allowed', ...roleOf(mapping, claims), ...groupsOf(mapping, claims), ...profileOf(mapping, claims) };
};

const denialOf = ({ access }: SsoRoleMapping, claims: Claims): string | undefined => {
  if (access === undefined) return undefined;
  const values = valuesAt(claims, access.claimPath);
  if (access.allowed.some((allowed) => values.has(allowed))) return undefined;
  return values.size === 0
    ? `Your token has no claim "${access.claimPath}", by which people are let in here.`
    : `No value of the claim "${access.claimPath}" of your token is among those that are let in here.`;
};

const roleOf = ({ role }: SsoRoleMapping, claims: Claims): Pick<MappedClaims, 'role'> => {
  if (role === undefined) return {};
  const values = valuesAt(claims, role.claimPath);
  return { role: role.mappings.find((mapped) => values.has(mapped.value))?.role ?? role.default ?? DEFAULT_ROLE };
};

const groupsOf = ({ tenants }: SsoRoleMapping, claims: Claims): Pick<MappedClaims, 'userGroups' | 'allGroups'> => {
  if (tenants === undefined) return {};
  const values = valuesAt(claims, tenants.claimPath);
  const mapped = tenants.mappings.filter((one) => values.has(one.value)).map((one) => one.groups);
  const given = mapped.length > 0 ? mapped : [tenants.default ?? []];
  if (given.includes('all')) return { allGroups: true, userGroups: [] };
  return { allGroups: false, userGroups: [...new Set(given.flat())].sort() };
};

const profileOf = ({ profile }: SsoRoleMapping, claims: Claims): Pick<MappedClaims, 'profile'> => {
  if (profile === undefined) return {};
  const fields = profile.fields.map(({ claimPath: path, field }) => [field, shownOf(claimAt(claims, path))] as const);
  return { profile: Object.fromEntries(fields.filter(([, shown]) => shown !== undefined)) };
};

/** The value of a claim in a profile; undefined for objects, and for values that are too long. */
const shownOf = (claim: unknown): unknown => {
  if (Array.isArray(claim)) return claim.slice(0, MAX_ENTRIES).filter((entry) => textOf(entry) !== undefined);
  return textOf(claim) === undefined ? undefined : claim;
};

/** The texts of a claim: its own, or those of its entries. */
const valuesAt = (claims: Claims, path: string): ReadonlySet<string> => {
  const claim = claimAt(claims, path);
  const entries: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return new Set(entries.map(textOf).filter((text) => text !== undefined));
};

const textOf = (claim: unknown): string | undefined => {
  if (typeof claim === 'string') return claim.length <= MAX_TEXT ? claim : undefined;
  return typeof claim === 'number' || typeof claim === 'boolean' ? String(claim) : undefined;
};

/**
 * The claim at a path; undefined if there is none. A dot leads into an object, unless the name of a claim contains the dot: `a.b` is first the
 * claim `a.b`, then `b` within `a`. Only own claims count.
 */
export const claimAt = (claims: Claims, path: string): unknown => {
  if (Object.hasOwn(claims, path)) return claims[path];
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const outer = path.slice(0, dot);
    const inner: unknown = Object.hasOwn(claims, outer) ? claims[outer] : undefined;
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) continue;
    const found = claimAt(inner as Claims, path.slice(dot + 1)); // an object that is not a list has names
    if (found !== undefined) return found;
  }
  return undefined;
};
