import { createHmac, randomBytes } from 'node:crypto';
import { readPrivateJson, writePrivateJson } from '../local-files';

/** How people reach the local stack. */
export interface LaunchPeople {
  /** Variables for every service. */
  readonly environment: Readonly<Record<string, string>>;
  /** The admin who signs in with a password; undefined if a proxy authenticates people. */
  readonly admin: { readonly email: string; readonly password: string } | undefined;
}

interface LaunchPeopleOptions {
  /** File with the secrets that an earlier start generated. */
  readonly file: string;
  readonly environment: NodeJS.ProcessEnv;
  /** `npm start -- --passthrough`: with a token-signing proxy in front. */
  readonly withProxy: boolean;
  /** Address of the ingress. */
  readonly baseUrl: string;
}

/** Variables about people that are passed on unchanged. */
const HANDED_ON = [
  ...['EXTERNAL_AUTH_TOKEN_PASSTHROUGH', 'EXTERNAL_AUTH_HEADER', 'EXTERNAL_AUTH_CLAIM_ID', 'EXTERNAL_AUTH_CLAIM_EMAIL'],
  ...['EXTERNAL_AUTH_CLAIM_NAME', 'EXTERNAL_AUTH_PUBLIC_PATHS', 'JWT_SECRET', 'JWT_SECRET_PREVIOUS', 'ADMIN_EMAIL'],
  ...['BACKEND_URL', 'BACKEND_ANON_KEY', 'BACKEND_SERVICE_KEY', 'PUBLIC_EXTERNAL_AUTH_TOKEN_PASSTHROUGH'],
  ...['OIDC_ISSUER_URL', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_SCOPES', 'OIDC_NAME', 'OIDC_EMAIL_VERIFIED'],
  ...['SMTP_HOST', 'SMTP_PORT', 'SMTP_TLS', 'SMTP_USER', 'SMTP_PASSWORD', 'SMTP_PASSWORD_FILE', 'SMTP_FROM'],
];

const DEFAULT_ADMIN = 'admin@example.com';

/**
 * The variables about people: those of the environment. Without passthrough, or with `withProxy`, missing ones are generated and kept. If
 * the environment asks for passthrough, nothing is added, so that missing variables are noticed.
 */
export const openLaunchPeople = ({ file, environment, withProxy, baseUrl }: LaunchPeopleOptions): LaunchPeople => {
  const given = Object.fromEntries(
    HANDED_ON.flatMap((name) => (environment[name] ? [[name, environment[name]] as const] : [])),
  );
  if (given['EXTERNAL_AUTH_TOKEN_PASSTHROUGH'] === 'true' && !withProxy)
    return { environment: given, admin: undefined };
  const known = (readPrivateJson(file) ?? {}) as { jwt_secret?: string; admin_password?: string }; // our own file
  const kept = {
    jwt_secret: known.jwt_secret ?? randomBytes(32).toString('base64url'),
    admin_password: known.admin_password ?? randomBytes(12).toString('base64url'),
  };
  writePrivateJson(file, kept);
  const secret = given['JWT_SECRET'] ?? kept.jwt_secret;
  const email = given['ADMIN_EMAIL'] ?? DEFAULT_ADMIN;
  const variables = { JWT_SECRET: secret, ADMIN_EMAIL: email, ...given };
  if (!withProxy) return { environment: variables, admin: { email, password: kept.admin_password } };
  return {
    environment: {
      ...{
        BACKEND_URL: baseUrl,
        BACKEND_ANON_KEY: keyOf('anon', secret),
        BACKEND_SERVICE_KEY: keyOf('service', secret),
      },
      ...variables,
      EXTERNAL_AUTH_TOKEN_PASSTHROUGH: 'true',
    },
    admin: undefined,
  };
};

const keyOf = (role: string, secret: string): string => signToken({ role }, secret);

/** A JSON Web Token of these claims, signed with HMAC-SHA256. */
export const signToken = (claims: object, secret: string): string => {
  const text = [{ alg: 'HS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};
