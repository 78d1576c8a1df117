import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  cacheSettings,
  type Config,
  databaseSettings,
  httpSettings,
  list,
  mailSettings,
  optional,
  publicSettings,
  type Secret,
  secret,
  sessionSettings,
  type Setting,
  text,
  url,
  wholeNumber,
} from '@decision/service-kit';
import { openIdSettings } from './open-id/settings';

const CLAIM_PATH = {
  pattern: /^[^\0]{1,200}$/,
  accepts: 'names of claims joined by dots, up to 200 characters',
};

/** A key of the identity stack. If it is a JWT, it belongs to this stack only if JWT_SECRET signed it. */
const backendKey = (env: string, meaning: string): Setting<Secret | undefined> => ({
  ...optional(secret(env, { meaning })),
  conflict: (key, { environment }) => {
    const secrets = [environment['JWT_SECRET'], environment['JWT_SECRET_PREVIOUS']].filter((text) => !!text);
    const text = key?.reveal() ?? '';
    if (secrets.length === 0 || !/^ey[\w-]*\.[\w-]+\.[\w-]+$/.test(text)) return undefined;
    return secrets.some((one) => isSignedBy(text, one ?? '')) ? undefined : 'is a JWT that JWT_SECRET has not signed';
  },
});

const isSignedBy = (token: string, key: string): boolean => {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const expected = createHmac('sha256', key).update(`${header}.${payload}`).digest();
  const given = Buffer.from(signature, 'base64url');
  return given.length === expected.length && timingSafeEqual(given, expected);
};

const ENABLED = 'true';

/** The flag for browsers. If it differed from the server's, they would be shown dead links, or miss links that they need. */
const flagForBrowsers: Setting<string | undefined> = {
  ...optional(
    text('PUBLIC_EXTERNAL_AUTH_TOKEN_PASSTHROUGH', {
      accepts: '`true`, or any other text for false; as EXTERNAL_AUTH_TOKEN_PASSTHROUGH',
      meaning: 'Whether pages learn that a proxy authenticates people. Not set: as the server does.',
    }),
  ),
  conflict: (value, { environment }) =>
    value === undefined || (value === ENABLED) === (environment['EXTERNAL_AUTH_TOKEN_PASSTHROUGH'] === ENABLED)
      ? undefined
      : 'contradicts EXTERNAL_AUTH_TOKEN_PASSTHROUGH: leave it out, or set both alike',
};

/** Token passthrough: see docs/people.md. Required variables may be missing at the start; every answer then names them. */
const passthroughSettings = {
  tokenPassthrough: text('EXTERNAL_AUTH_TOKEN_PASSTHROUGH', {
    default: 'false',
    accepts: '`true`, which enables it; any other text disables it',
    meaning: 'Whether the token of the proxy in front says who a person is. Then people do not sign in here.',
  }),
  publicTokenPassthrough: flagForBrowsers,
  tokenHeader: text('EXTERNAL_AUTH_HEADER', {
    default: 'Authorization',
    pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/,
    accepts: 'the name of a header',
    meaning: 'Header that carries the token. From `Authorization` a prefix `Bearer ` is removed.',
  }),
  claimId: text('EXTERNAL_AUTH_CLAIM_ID', {
    ...CLAIM_PATH,
    default: 'sub',
    meaning: 'Path of the claim with the id that the directory knows the person by.',
  }),
  claimEmail: text('EXTERNAL_AUTH_CLAIM_EMAIL', {
    ...CLAIM_PATH,
    default: 'email',
    meaning: 'Path of the claim with the email address, by which a person is found.',
  }),
  claimName: text('EXTERNAL_AUTH_CLAIM_NAME', {
    ...CLAIM_PATH,
    default: 'name',
    meaning: 'Path of the claim with the name to show.',
  }),
  publicPaths: list('EXTERNAL_AUTH_PUBLIC_PATHS', {
    default: [],
    pattern: /^\/[^\s%\\?#]{1,499}$/,
    items: 'path prefixes that begin with a slash and hold no percent sign, backslash, question mark or number sign',
    meaning: 'Paths that pass without a token. A prefix matches whole segments: /public does not match /publication.',
  }),
  adminEmail: optional(
    text('ADMIN_EMAIL', {
      pattern: /^[^\s@]{1,200}@[^\s@]{1,200}$/,
      accepts: 'an email address',
      meaning: 'Email address of the admin of this instance. Passthrough needs it.',
    }),
  ),
  backendUrl: optional(
    url('BACKEND_URL', {
      protocols: ['http', 'https'],
      meaning:
        'Address of the identity stack. Passthrough needs it; the identity store is the database of this service.',
    }),
  ),
  backendAnonKey: backendKey(
    'BACKEND_ANON_KEY',
    'Public key of the identity stack. Passthrough needs it. A JWT must be signed with JWT_SECRET.',
  ),
  backendServiceKey: backendKey(
    'BACKEND_SERVICE_KEY',
    'Service key of the identity stack. Passthrough needs it. A JWT must be signed with JWT_SECRET.',
  ),
  sessionHours: wholeNumber('SESSION_HOURS', {
    default: 24,
    min: 1,
    max: 720,
    meaning: 'How many hours a session lasts.',
  }),
  signInWorkspace: optional(
    text('SIGN_IN_WORKSPACE', {
      pattern: /^[a-z0-9-]{1,100}$/,
      accepts: 'the slug of a workspace',
      meaning: 'Workspace of the people who come in here. Not set: the only one that there is.',
    }),
  ),
};

const COLOR = { pattern: /^#[0-9a-fA-F]{6}$/, accepts: 'a colour as #rrggbb' };

/** The operator's branding on pages. */
const brandingSettings = {
  brandingName: text('BRANDING_NAME', {
    default: 'Decision service',
    pattern: /^[^\0-\x1f<>]{1,100}$/,
    accepts: 'a name of up to 100 characters',
    meaning: 'Name that pages show.',
  }),
  brandingLogoUrl: optional(
    url('BRANDING_LOGO_URL', { protocols: ['https', 'http'], meaning: 'Address of the logo that pages show.' }),
  ),
  brandingPrimaryColor: text('BRANDING_PRIMARY_COLOR', {
    ...COLOR,
    default: '#1f4b99',
    meaning: 'Colour of headings and buttons.',
  }),
  brandingAccentColor: text('BRANDING_ACCENT_COLOR', { ...COLOR, default: '#0f766e', meaning: 'Colour of links.' }),
  brandingLinks: list('BRANDING_LINKS', {
    default: [],
    pattern: /^[^\0-\x1f=<>]{1,60}=https?:\/\/[^\s<>"]{1,1000}$/,
    items: 'links, each as label=address',
    meaning: 'Links that pages show, such as Help=https://help.example.com.',
  }),
};

/** All settings of this service. */
export const settings = {
  ...httpSettings(3006),
  ...databaseSettings,
  ...cacheSettings,
  ...sessionSettings,
  ...publicSettings,
  ...mailSettings,
  ...passthroughSettings,
  ...openIdSettings,
  ...brandingSettings,
};

export type AdapterConfig = Config<typeof settings>;

/** Whether the token of the proxy says who a person is. Only the text `true` enables it. */
export const isPassthrough = ({ tokenPassthrough }: Pick<AdapterConfig, 'tokenPassthrough'>): boolean =>
  tokenPassthrough === ENABLED;

/** The flag that browsers see. */
export const isPassthroughForBrowsers = (
  config: Pick<AdapterConfig, 'tokenPassthrough' | 'publicTokenPassthrough'>,
): boolean => (config.publicTokenPassthrough ?? config.tokenPassthrough) === ENABLED;

/** Variables that passthrough needs and that are not set, in the order of the documentation; none if it is off. */
export const missingVariables = (config: AdapterConfig): readonly string[] =>
  !isPassthrough(config)
    ? []
    : [
        { name: 'JWT_SECRET', value: config.jwtSecret },
        { name: 'ADMIN_EMAIL', value: config.adminEmail },
        { name: 'BACKEND_URL', value: config.backendUrl },
        { name: 'BACKEND_ANON_KEY', value: config.backendAnonKey },
        { name: 'BACKEND_SERVICE_KEY', value: config.backendServiceKey },
      ]
        .filter(({ value }) => value === undefined)
        .map(({ name }) => name);
