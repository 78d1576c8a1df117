import fc from 'fast-check';
import { createHash, randomBytes } from 'node:crypto';
import { ServiceError } from '@decision/contracts';
import { createAuthenticator, generateApiKey, hashApiKeySecret, parseApiKey, type StoredKey } from './authenticator';
import { type RefusalGuard } from './authenticator';

describe('an authenticator', () => {
  const NOW = Date.parse('2026-06-01T00:00:00Z');
  const { apiKey, selector, secretHash } = generateApiKey(randomBytes);
  const stored: StoredKey = {
    id: 'k',
    workspaceId: 'w',
    selector,
    secretHash,
    role: 'solver',
    entitlements: ['solve'],
    userGroups: [],
    expiresAt: null,
    revokedAt: null,
  };

  const authenticate = (key: string | undefined, change: Partial<StoredKey> | undefined = {}) =>
    createAuthenticator({
      findKey: (wanted) => Promise.resolve(wanted === selector && change ? { ...stored, ...change } : undefined),
      now: () => NOW,
    }).authenticate(key);

  it('makes keys that parse again, of 12 and 43 characters', () => {
    expect(apiKey).toMatch(/^dsk_[0-9a-z]{12}_[A-Za-z0-9_-]{43}$/);
    expect(parseApiKey(apiKey)).toMatchObject({ selector });
    expect(generateApiKey(randomBytes).apiKey).not.toBe(apiKey);
  });

  it('answers the identity behind a key', async () => {
    expect(await authenticate(apiKey)).toEqual({
      actor: 'k',
      workspaceId: 'w',
      role: 'solver',
      entitlements: new Set(['solve']),
      userGroups: undefined,
    });
    expect(
      (await authenticate(apiKey, { userGroups: ['north'], expiresAt: '2026-06-01T00:00:01Z' })).userGroups,
    ).toEqual(['north']);
  });

  it.each([undefined, ''])('asks for a key if %j is sent', async (key) => {
    await expect(authenticate(key)).rejects.toMatchObject({ code: 'missing_api_key' });
  });

  describe('that holds keys', () => {
    let held: StoredKey | undefined;
    let now: number;
    let used: number;
    const holding = () =>
      createAuthenticator({
        findKey: (wanted) => Promise.resolve(wanted === selector ? held : undefined),
        peekKey: (wanted) => (wanted === selector ? held : undefined),
        now: () => now,
        onUse: () => (used += 1),
      });
    beforeEach(() => {
      [held, now, used] = [{ ...stored, expiresAt: '2026-06-01T00:00:01Z' }, NOW, 0];
    });

    it('answers a proven key at once, and counts its use', async () => {
      const authenticator = holding();
      expect(authenticator.authenticateKnown?.(apiKey)).toBeUndefined();
      const identity = await authenticator.authenticate(apiKey);
      expect(authenticator.authenticateKnown?.(apiKey)).toBe(identity);
      expect(used).toBe(2);
    });

    it('answers no other key at once, neither one with the same selector nor a refused one', async () => {
      const authenticator = holding();
      await authenticator.authenticate(apiKey);
      const forged = `${apiKey.slice(0, -1)}${apiKey.endsWith('A') ? 'B' : 'A'}`;
      await expect(authenticator.authenticate(forged)).rejects.toMatchObject({ code: 'invalid_api_key' });
      expect(authenticator.authenticateKnown?.(forged)).toBeUndefined();
      expect(authenticator.authenticateKnown?.(apiKey.toUpperCase())).toBeUndefined();
      expect(authenticator.authenticateKnown?.('')).toBeUndefined();
    });

    it('checks a key again that was reloaded, is no longer held, or has expired', async () => {
      const authenticator = holding();
      await authenticator.authenticate(apiKey);
      const before = held;
      held = { ...stored, revokedAt: '2026-05-31T00:00:00Z' };
      expect(authenticator.authenticateKnown?.(apiKey)).toBeUndefined();
      held = undefined;
      expect(authenticator.authenticateKnown?.(apiKey)).toBeUndefined();
      held = before;
      expect(authenticator.authenticateKnown?.(apiKey)).toBeDefined();
      now += 1_000;
      expect(authenticator.authenticateKnown?.(apiKey)).toBeUndefined();
    });

    it('answers nothing at once if no key is held', async () => {
      const authenticator = createAuthenticator({ findKey: () => Promise.resolve(stored), now: () => NOW });
      await authenticator.authenticate(apiKey);
      expect(authenticator.authenticateKnown).toBeUndefined();
    });
  });

  it('answers all invalid keys in the same way', async () => {
    const other = generateApiKey(randomBytes).apiKey;
    const failures = [
      authenticate('nonsense'),
      authenticate(other),
      authenticate(`${apiKey.slice(0, -1)}${apiKey.endsWith('A') ? 'B' : 'A'}`),
      authenticate(apiKey, { revokedAt: '2026-01-01T00:00:00Z' }),
      authenticate(apiKey, { expiresAt: '2026-06-01T00:00:00Z' }),
      authenticate(apiKey, { expiresAt: 'garbage' }),
      authenticate(apiKey, { secretHash: '' }),
      authenticate('x'.repeat(100_000)),
      authenticate('__proto__'),
    ];
    const seen = await Promise.all(
      failures.map((failure) =>
        failure.then(
          () => 'accepted',
          (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
        ),
      ),
    );
    expect(new Set(seen).size).toBe(1);
    expect(seen[0]).toMatch(/^invalid_api_key: /);
  });

  /** A guard that records its calls. */
  const noted = (calls: string[]): RefusalGuard => ({
    admit: (address) => {
      calls.push(`admit ${address}`);
      return {
        end: () => void calls.push('end'),
        refuse: () => Promise.resolve(void calls.push('refuse')),
      };
    },
    size: () => 0,
  });

  it('looks up every key, even a malformed one, and delays every refusal', async () => {
    const looked: string[] = [];
    const calls: string[] = [];
    const { authenticate: check } = createAuthenticator({
      findKey: (wanted) => {
        looked.push(wanted);
        return Promise.resolve(wanted === selector ? stored : undefined);
      },
      now: () => NOW,
      refusals: noted(calls),
    });
    for (const key of ['nonsense', 'other nonsense', generateApiKey(randomBytes).apiKey])
      await expect(check(key, '192.0.2.1')).rejects.toMatchObject({ code: 'invalid_api_key' });
    await check(apiKey, '192.0.2.1');
    expect(looked).toHaveLength(4);
    expect(new Set(looked).size).toBe(4);
    for (const wanted of looked) expect(wanted).toMatch(/^[0-9a-hjkmnp-tv-z]{12}$/);
    expect(calls.filter((call) => call === 'refuse')).toHaveLength(3);
  });

  it('asks the guard before it looks up a key, but not for a key that was accepted before', async () => {
    const calls: string[] = [];
    let current: StoredKey | undefined = stored;
    const { authenticate: check } = createAuthenticator({
      findKey: (wanted) => {
        calls.push('find');
        return Promise.resolve(wanted === selector ? current : undefined);
      },
      now: () => NOW,
      refusals: noted(calls),
    });
    const callsOf = async (key: string): Promise<readonly string[]> => {
      calls.length = 0;
      await check(key, 'a').catch(() => undefined);
      return [...calls];
    };
    expect(await callsOf(apiKey)).toEqual(['admit a', 'find', 'end']);
    expect(await callsOf(apiKey)).toEqual(['find']);
    const otherSecret = `${apiKey.slice(0, -2)}${apiKey.endsWith('AA') ? 'BA' : 'AA'}`;
    expect(await callsOf(otherSecret)).toEqual(['admit a', 'find', 'refuse']);
    expect(await callsOf(apiKey)).toEqual(['find']);
    current = { ...stored, revokedAt: '2026-01-01T00:00:00Z' };
    expect(await callsOf(apiKey)).toEqual(['find', 'admit a', 'refuse']);
    expect(await callsOf(apiKey)).toEqual(['admit a', 'find', 'refuse']);
  });

  it('does not look up a key that the guard refuses', async () => {
    const looked: string[] = [];
    const { authenticate: check } = createAuthenticator({
      findKey: (wanted) => {
        looked.push(wanted);
        return Promise.resolve(stored);
      },
      now: () => NOW,
      refusals: {
        admit: () => {
          throw new ServiceError('too_many_refusals', 'Too many.');
        },
        size: () => 0,
      },
    });
    await expect(check(apiKey, 'a')).rejects.toMatchObject({ code: 'too_many_refusals' });
    expect(looked).toEqual([]);
  });

  it('releases its slot if the store fails', async () => {
    const calls: string[] = [];
    const { authenticate: check } = createAuthenticator({
      findKey: () => Promise.reject(new TypeError('away')),
      now: () => NOW,
      refusals: noted(calls),
    });
    await expect(check(apiKey, 'a')).rejects.toThrow('away');
    expect(calls).toEqual(['admit a', 'end']);
  });

  it('reports the use of accepted keys, and of no other', async () => {
    const used: string[] = [];
    const { authenticate: check } = createAuthenticator({
      findKey: (wanted) => Promise.resolve(wanted === selector ? stored : undefined),
      now: () => NOW,
      onUse: ({ actor }) => used.push(actor),
    });
    await check(apiKey);
    await expect(check('nonsense')).rejects.toThrow();
    expect(used).toEqual(['k']);
  });

  it('passes on a failure of the store', async () => {
    const broken = createAuthenticator({ findKey: () => Promise.reject(new TypeError('away')), now: () => NOW });
    await expect(broken.authenticate(apiKey)).rejects.toThrow('away');
  });
});

describe('API keys', () => {
  const SELECTOR = '0123456789ab';
  const SECRET = 'A'.repeat(43);

  it('parses every key that it makes, into the stored parts', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (chance) => {
        const bytes = Buffer.from(chance);
        const { apiKey, selector, secretHash } = generateApiKey((size) => bytes.subarray(0, size));
        const parts = parseApiKey(apiKey);
        expect(parts?.selector).toBe(selector);
        expect(hashApiKeySecret(parts?.secret ?? '').toString('hex')).toBe(secretHash);
      }),
    );
  });

  it('stores the SHA-256 of the secret, never the secret', () => {
    const { apiKey, ...stored } = generateApiKey(randomBytes);
    const secret = apiKey.slice(-43);
    expect(stored.secretHash).toBe(createHash('sha256').update(secret).digest('hex'));
    expect(JSON.stringify(stored)).not.toContain(secret);
  });

  it('draws 12 bytes for the selector and 32 for the secret', () => {
    const sizes: number[] = [];
    generateApiKey((size) => {
      sizes.push(size);
      return randomBytes(size);
    });
    expect(sizes).toEqual([12, 32]);
  });

  it('parses a key of the right shape', () => {
    expect(parseApiKey(`dsk_${SELECTOR}_${SECRET}`)).toEqual({ selector: SELECTOR, secret: SECRET });
  });

  it.each([
    ['is empty', ''],
    ['has another prefix', `psk_${SELECTOR}_${SECRET}`],
    ['has a selector of 11', `dsk_${SELECTOR.slice(1)}_${SECRET}`],
    ['has a selector of 13', `dsk_${SELECTOR}0_${SECRET}`],
    ['has an upper-case selector', `dsk_${SELECTOR.toUpperCase()}_${SECRET}`],
    ['has a letter that is mistaken for a digit', `dsk_l${SELECTOR.slice(1)}_${SECRET}`],
    ['has a secret of 42', `dsk_${SELECTOR}_${SECRET.slice(1)}`],
    ['has a secret of 44', `dsk_${SELECTOR}_${SECRET}A`],
    ['has a character outside base64url', `dsk_${SELECTOR}_${SECRET.slice(1)}+`],
    ['goes on after a line break', `dsk_${SELECTOR}_${SECRET}\n`],
    ['begins with a blank', ` dsk_${SELECTOR}_${SECRET}`],
    ['is two keys, as a repeated header gives', `dsk_${SELECTOR}_${SECRET}, dsk_${SELECTOR}_${SECRET}`],
  ])('does not accept a text that %s', (_what, text) => {
    expect(parseApiKey(text)).toBeUndefined();
  });
});
