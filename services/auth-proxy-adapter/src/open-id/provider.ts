import { type Claims } from '@decision/contracts';
import { doublingMs } from '@decision/waiting';
import * as client from 'openid-client';

/** An OpenID provider, as the operator registered this service there. */
interface ProviderOptions {
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Undefined: a public client. */
  readonly clientSecret: string | undefined;
  /** Separated by blanks. */
  readonly scopes: string;
  /** The callback, as it is registered with the provider. */
  readonly redirectUrl: string;
  /** How long each request to the provider may take, s. Default 10. */
  readonly timeoutSeconds?: number;
}

/** State of a sign-in between the redirect and the callback. */
export interface OpenIdFlow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Sends people to the provider and reads its claims about them. */
export interface OpenIdProvider {
  /** The redirect for the browser, and the state that the callback needs. Throws {@link OpenIdFailure}. */
  begin(): Promise<{ readonly url: string; readonly flow: OpenIdFlow }>;
  /**
   * The claims of the returning person: those of the ID token, completed by the userinfo endpoint. `query` begins with a question mark.
   * Throws {@link OpenIdFailure}.
   */
  finish(query: string, flow: OpenIdFlow): Promise<Claims>;
}

/** Why a sign-in at the provider failed. */
export type OpenIdProblem =
  /** The provider or the person refused. */
  | 'refused'
  /** The callback cannot be verified, or was repeated. */
  | 'unproven'
  /** The provider did not answer, or gave an invalid answer. */
  | 'unavailable';

/** Its message is for operators, and holds neither codes nor tokens. */
export class OpenIdFailure extends Error {
  override readonly name = 'OpenIdFailure';

  constructor(
    readonly problem: OpenIdProblem,
    message: string,
  ) {
    super(message);
  }
}

/** Age at which the provider's metadata is fetched again, ms. */
const DISCOVERY_MS = 3_600_000;
/** Pause after a failure of the provider, ms; it doubles with each further failure, up to the maximum. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [250, 30_000];
/** Maximum bytes of an answer of the provider. */
const MAX_ANSWER_BYTES = 1_048_576;
/** How far the clocks of the provider and of this process may differ, s. */
const CLOCK_TOLERANCE = 30;

/**
 * Talks to one provider: authorization code flow with PKCE, state and nonce; signatures of ID tokens are verified. See
 * docs/adr/0067-openid-connect.md.
 */
export const createOpenIdProvider = (options: ProviderOptions): OpenIdProvider => {
  let known: { readonly configuration: Promise<client.Configuration>; until: number } | undefined;
  let failures = 0;
  const discovered = (): Promise<client.Configuration> => {
    if (known !== undefined && performance.now() < known.until) return known.configuration;
    const mine = { configuration: discover(options), until: Infinity };
    known = mine;
    mine.configuration.then(
      () => {
        failures = 0;
        mine.until = performance.now() + DISCOVERY_MS;
      },
      () => {
        failures += 1;
        // Until the next attempt everybody gets this failure.
        mine.until = performance.now() + doublingMs(failures, { initialMs: FIRST_PAUSE_MS, maxMs: LONGEST_PAUSE_MS });
      },
    );
    return mine.configuration;
  };
  return {
    begin: () =>
      explained(async () => {
        const configuration = await discovered();
        const flow = {
          ...{ state: client.randomState(), nonce: client.randomNonce() },
          verifier: client.randomPKCECodeVerifier(),
        };
        const url = client.buildAuthorizationUrl(configuration, {
          ...{ redirect_uri: options.redirectUrl, scope: options.scopes, state: flow.state, nonce: flow.nonce },
          ...{ code_challenge: await client.calculatePKCECodeChallenge(flow.verifier), code_challenge_method: 'S256' },
        });
        return { url: url.href, flow };
      }),
    finish: (query, { state, nonce, verifier }) =>
      explained(async () => {
        const configuration = await discovered();
        const tokens = await client.authorizationCodeGrant(configuration, new URL(`${options.redirectUrl}${query}`), {
          ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
        });
        const claims = { ...tokens.claims() };
        if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
        const more = await client.fetchUserInfo(configuration, tokens.access_token, String(claims['sub']));
        return joinClaims(claims, more);
      }),
  };
};

/** If both have a claim, that of the ID token counts. Whether an address is verified comes from the same source as the address. */
const joinClaims = (claims: Claims, more: Claims): Claims => {
  const speaker = 'email' in claims ? claims : more;
  return { ...more, ...claims, email_verified: speaker['email_verified'] };
};

const discover = async ({
  issuerUrl,
  clientId,
  clientSecret,
  timeoutSeconds = 10,
}: ProviderOptions): Promise<client.Configuration> => {
  const issuer = new URL(issuerUrl);
  const ask = createFetch(issuer.protocol === 'http:');
  const execute = issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [];
  const found = await client.discovery(issuer, clientId, undefined, client.None(), {
    ...{ execute, timeout: timeoutSeconds, [client.customFetch]: ask },
  });
  const server = found.serverMetadata();
  const configuration = new client.Configuration(
    server,
    clientId,
    { [client.clockTolerance]: CLOCK_TOLERANCE },
    authenticationFor(server.token_endpoint_auth_methods_supported, clientSecret),
  );
  execute.forEach((allow) => allow(configuration));
  configuration.timeout = timeoutSeconds;
  configuration[client.customFetch] = ask;
  client.enableNonRepudiationChecks(configuration);
  return configuration;
};

/** Basic authentication is the default of providers. */
const authenticationFor = (methods: readonly string[] | undefined, secret: string | undefined): client.ClientAuth => {
  if (secret === undefined) return client.None();
  const takesBasic = methods === undefined || methods.includes('client_secret_basic');
  return takesBasic ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
};

/** Requests the provider over TLS, follows no redirects and reads a bounded answer. */
const createFetch =
  (isPlainAllowed: boolean): client.CustomFetch =>
  async (url, options) => {
    if (!isPlainAllowed && !url.startsWith('https:'))
      throw new OpenIdFailure('unavailable', 'The provider names an address without TLS.');
    const { body, ...rest } = options;
    // Bodies are forms; there may be none.
    const sent = body === null || body === undefined ? {} : { body: body as URLSearchParams };
    const answer = await fetch(url, { ...rest, ...sent, redirect: 'manual' });
    if ([204, 205, 304].includes(answer.status)) return answer;
    return new Response(await readBounded(answer), { status: answer.status, headers: answer.headers });
  };

const readBounded = async (answer: Response): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    const bytes = chunk as Uint8Array; // bodies of fetch are bytes
    size += bytes.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new OpenIdFailure('unavailable', 'An answer of the provider is too long.');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
};

/** Converts the library's errors to {@link OpenIdFailure}. */
const explained = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw failureOf(error);
  }
};

/** The library's codes for faults of the browser's input; all others are faults of the provider. */
const UNPROVEN: readonly string[] = [
  ...['OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED', 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED'],
  ...['OAUTH_PARSE_ERROR', 'OAUTH_MISSING_CLAIM', 'ERR_INVALID_ARG_VALUE', 'ERR_INVALID_ARG_TYPE'],
];

const failureOf = (error: unknown): OpenIdFailure => {
  if (error instanceof OpenIdFailure) return error;
  if (error instanceof client.AuthorizationResponseError)
    return new OpenIdFailure('refused', `The provider answered ${named(error.error)}.`);
  if (error instanceof client.ResponseBodyError)
    return new OpenIdFailure(
      error.error === 'invalid_grant' ? 'unproven' : 'unavailable',
      `The provider answered ${named(error.error)} to the code.`,
    );
  const { code, message, cause } = error as Error & { readonly code?: string };
  if (cause instanceof OpenIdFailure) return cause;
  const problem = code !== undefined && UNPROVEN.includes(code) ? 'unproven' : 'unavailable';
  return new OpenIdFailure(problem, `${code ?? 'unknown'}: ${message}`);
};

/** An error code of the protocol; any other text is not shown. */
const named = (code: string): string => (/^[a-z_]{1,60}$/.test(code) ? code : 'an unknown error');
