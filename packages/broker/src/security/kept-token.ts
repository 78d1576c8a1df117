import type { TokenSource } from '../settings';

/** A token or its credentials could not be obtained. The sentence fragment holds no secret. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
}

export interface Token {
  readonly value: string;
  /** Epoch ms. */
  readonly expiresAt: number;
}

/** A token is renewed this long before its expiry, ms; one with a shorter life is renewed at half its life. */
export const RENEW_BEFORE_MS = 60_000;

/** Caches the token of a source until shortly before its expiry. Concurrent callers share one request; failures are not cached. */
export const keepToken = (fetchToken: () => Promise<Token>, now: () => number = Date.now): TokenSource => {
  let kept: { readonly value: string; readonly until: number } | undefined;
  let fetching: Promise<string> | undefined;

  const fetchAndKeep = async (): Promise<string> => {
    const begun = now();
    const { value, expiresAt } = await fetchToken();
    const life = expiresAt - begun;
    kept = { value, until: expiresAt - Math.min(RENEW_BEFORE_MS, life / 2) };
    return value;
  };

  return () => {
    if (kept !== undefined && now() < kept.until) return Promise.resolve(kept.value);
    fetching ??= fetchAndKeep().finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
};
