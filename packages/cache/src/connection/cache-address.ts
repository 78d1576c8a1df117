/** Address and login of a cache server. */
export interface CacheAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Number of the logical database. */
  readonly database: number;
}

type ParsedCacheUrl =
  { readonly ok: true; readonly address: CacheAddress } | { readonly ok: false; readonly fault: string };

const DEFAULT_PORT = 6379;
const SHAPE = 'redis[s]://[[user]:password@]host[:port][/database]';

/** Reads `redis[s]://[[user]:password@]host[:port][/database]`. A fault never repeats the URL: it may hold a password. */
export const parseCacheUrl = (text: string): ParsedCacheUrl => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '')
    return fault(`the URL is not of the form ${SHAPE} (percent-encode special characters)`);
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:')
    return fault('the URL must begin with redis:// or rediss://');
  if (url.search !== '' || url.hash !== '')
    return fault(`the URL has a query or a fragment, which ${SHAPE} does not know`);
  const database = /^\/?(\d{0,5})$/.exec(url.pathname)?.[1];
  if (database === undefined) return fault('the path of the URL must be the number of a database');
  const username = decode(url.username);
  const password = decode(url.password);
  if (username === undefined || password === undefined)
    return fault('the user or password in the URL is not percent-encoded');
  return {
    ok: true,
    address: {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? DEFAULT_PORT : Number(url.port),
      tls: url.protocol === 'rediss:',
      username: username === '' ? undefined : username,
      password: password === '' ? undefined : password,
      database: Number(database),
    },
  };
};

/** `host:port`, the only part of an address that may be logged. */
export const describeAddress = ({ host, port }: CacheAddress): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

const fault = (sentence: string): ParsedCacheUrl => ({ ok: false, fault: sentence });

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};
