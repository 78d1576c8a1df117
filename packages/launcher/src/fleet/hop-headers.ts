/** Headers that belong to one connection only (RFC 9110, section 7.6.1). */
export const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The raw headers, alternating names and values, without those of one connection. */
export const hopFree = (raw: readonly string[]): string[] => {
  const kept: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (!HOP_BY_HOP.has(name.toLowerCase())) kept.push(name, raw[index + 1] ?? '');
  }
  return kept;
};
