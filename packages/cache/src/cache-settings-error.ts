/** Settings or options that cannot be used. The message lists every fault and holds no secret; a retry cannot help. */
export class CacheSettingsError extends Error {
  override readonly name = 'CacheSettingsError';
  readonly code = 'cache_settings_invalid';
  readonly canRetry = false;

  constructor(readonly faults: readonly string[]) {
    super(`The cache cannot be used as configured: ${faults.join('; ')}.`);
  }
}
