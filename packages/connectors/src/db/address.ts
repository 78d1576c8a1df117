import { createHash } from 'node:crypto';
import { Secret } from '@decision/flows';
import { ConnectorFailure } from '../connector';
import { fillTemplate } from '../templates';

/** Address and login of a database. */
export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** `checked`: the certificate must be trusted and match the host. */
  readonly tls: 'none' | 'unchecked' | 'checked';
  /** Distinguishes addresses without revealing them. */
  readonly digest: string;
}

const TLS_MODES: Readonly<Record<string, DatabaseAddress['tls']>> = {
  disable: 'none',
  'no-verify': 'unchecked',
  require: 'checked',
  'verify-ca': 'checked',
  'verify-full': 'checked',
};

/**
 * Reads `postgresql://user:password@host:port/database?sslmode=`; `{{input}}` in it stands for a secret. No error reveals any part of it.
 */
export const readAddress = (connectionString: string, inputs: Readonly<Record<string, unknown>>): DatabaseAddress => {
  const text = fillTemplate(connectionString, inputs, (value, input) => {
    if (value instanceof Secret) return value.reveal();
    throw invalid(`uses the input "${input}", which is no secret of a vault; connect one, or write the text itself`);
  });
  if (!URL.canParse(text)) throw invalid('cannot be read; write postgresql://user:password@host:5432/database');
  const url = new URL(text);
  if (!['postgres:', 'postgresql:'].includes(url.protocol) || url.hostname === '')
    throw invalid('does not begin with postgresql://, user, password and host');
  for (const name of url.searchParams.keys())
    if (name !== 'sslmode') throw invalid('has a parameter other than sslmode; leave it out');
  const tls = TLS_MODES[url.searchParams.get('sslmode') ?? 'disable'];
  if (tls === undefined) throw invalid(`has an sslmode that is none of ${Object.keys(TLS_MODES).join(', ')}`);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 5_432),
    ...partsOf(url),
    tls,
    digest: createHash('sha256').update(text).digest('base64url'),
  };
};

const partsOf = ({ username, password, pathname }: URL): Pick<DatabaseAddress, 'user' | 'password' | 'database'> => {
  try {
    const user = decodeURIComponent(username);
    return { user, password: decodeURIComponent(password), database: decodeURIComponent(pathname.slice(1)) || user };
  } catch {
    throw invalid('has an invalid escape (%)');
  }
};

const invalid = (reason: string): ConnectorFailure =>
  new ConnectorFailure(`The connectionString ${reason}.`, {
    outcome: 'invalid',
    details: { field: 'connectionString' },
  });
