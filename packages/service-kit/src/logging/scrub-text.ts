const CREDENTIALS_IN_ADDRESS = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/"'\\]{1,1000}@/gi;
const API_KEY = /dsk_([0-9a-z]{12})_[A-Za-z0-9_-]{20,}/g;
const BEARER = /\b(bearer|basic) +(?=[^\s"]{0,200}\d)[A-Za-z0-9._~+/=-]{8,}/gi;

/** Takes secrets out of text that was written by somebody else: user and password in addresses, API keys, bearer tokens. */
export const scrubText = (text: string): string => {
  let scrubbed = text;
  if (scrubbed.includes('@')) scrubbed = scrubbed.replace(CREDENTIALS_IN_ADDRESS, '$1[secret]@');
  if (scrubbed.includes('dsk_')) scrubbed = scrubbed.replace(API_KEY, 'dsk_$1_[secret]');
  return MAYBE_TOKEN.test(scrubbed) ? scrubbed.replace(BEARER, '$1 [secret]') : scrubbed;
};

const MAYBE_TOKEN = /bearer |basic /i;
