import {
  oneOf,
  optional,
  type Secret,
  secret,
  type Setting,
  type Surroundings,
  text,
  url,
} from '@decision/service-kit';

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

const issuer = optional(
  url('OIDC_ISSUER_URL', {
    protocols: ['https', 'http'],
    meaning:
      'Issuer of the OpenID provider at which people sign in, as its metadata names it. With it OIDC_CLIENT_ID, ADMIN_EMAIL and JWT_SECRET must be set. Plain http is for providers on this machine.',
  }),
);

const NEEDED = ['OIDC_CLIENT_ID', 'ADMIN_EMAIL', 'JWT_SECRET'] as const;

const issuerUrl: Setting<string | undefined> = {
  ...issuer,
  conflict: (value, { environment }) => {
    if (value === undefined) return undefined;
    const { protocol, hostname } = new URL(value);
    if (protocol === 'http:' && !LOOPBACK.includes(hostname))
      return 'must begin with https://, unless it is this machine';
    const missing = NEEDED.filter((name) => !environment[name]);
    return missing.length === 0 ? undefined : `needs ${missing.join(', ')} beside it`;
  },
};

const clientSecret: Setting<Secret | undefined> = optional(
  secret('OIDC_CLIENT_SECRET', {
    meaning: 'Secret of this client. Not set: a public client, which PKCE alone protects.',
  }),
);

const clientId = optional(text('OIDC_CLIENT_ID', { meaning: 'Id of this client at the provider.' }));

const emailVerified = oneOf('OIDC_EMAIL_VERIFIED', ['required', 'not_checked'], {
  default: 'required',
  meaning:
    'Whether the claim email_verified must be true. Not checked: the provider is trusted not to let people claim addresses of others.',
});

/** Signing in at an OpenID provider. The paths of claims are those of passthrough. */
export const openIdSettings = {
  oidcIssuerUrl: issuerUrl,
  oidcClientId: {
    ...clientId,
    conflict: (value: string | undefined, { environment }: Surroundings) =>
      value === undefined || environment['OIDC_ISSUER_URL'] ? undefined : 'needs OIDC_ISSUER_URL beside it',
  },
  oidcClientSecret: clientSecret,
  oidcScopes: text('OIDC_SCOPES', {
    default: 'openid email profile',
    pattern: /^openid(?: [\x21\x23-\x5b\x5d-\x7e]{1,100}){0,20}$/,
    accepts: 'scopes separated by blanks, beginning with openid',
    meaning: 'Scopes that are asked for.',
  }),
  oidcName: text('OIDC_NAME', {
    default: 'your company account',
    pattern: /^[^\0-\x1f<>]{1,100}$/,
    accepts: 'a name of up to 100 characters',
    meaning: 'What the page to sign in calls the provider.',
  }),
  oidcEmailVerified: {
    ...emailVerified,
    conflict: (value: string, { environment }: Surroundings) => {
      const path = environment['EXTERNAL_AUTH_CLAIM_EMAIL'] || 'email';
      if (value !== 'required' || path === 'email' || !environment['OIDC_ISSUER_URL']) return undefined;
      return `must be not_checked where EXTERNAL_AUTH_CLAIM_EMAIL is ${path}: the claim email_verified speaks of the claim email alone`;
    },
  },
};
