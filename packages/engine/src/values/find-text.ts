/** Whether a text holds the part that the search was prepared for. */
export type HoldsText = (text: string) => boolean;

/**
 * Longer parts are not left to the platform: of them it considers only the last 250 characters at once, which takes time of the
 * product of both lengths (a minute for 500,000 characters in 1,000,000).
 */
const PLATFORM_SEARCH_LENGTH = 250;

/** Prepares a search that is linear in the text, however long and repetitive the part is. */
export const searchFor = (part: string): HoldsText =>
  part.length <= PLATFORM_SEARCH_LENGTH ? (text) => text.includes(part) : linearSearch(part);

/** After Knuth, Morris and Pratt: never looks back in the text. */
const linearSearch = (part: string): HoldsText => {
  const fallback = fallbacksOf(part);
  return (text) => {
    let matched = 0;
    for (let unit = 0; unit < text.length; unit += 1) {
      matched = step(part, fallback, matched, text.charCodeAt(unit));
      if (matched === part.length) return true;
    }
    return false;
  };
};

/** For each length of a matched beginning, the next shorter beginning that it also ends with. */
const fallbacksOf = (part: string): Int32Array => {
  const fallback = new Int32Array(part.length + 1);
  let matched = 0;
  for (let unit = 1; unit < part.length; unit += 1) {
    matched = step(part, fallback, matched, part.charCodeAt(unit));
    fallback[unit + 1] = matched;
  }
  return fallback;
};

const step = (part: string, fallback: Int32Array, before: number, unit: number): number => {
  let matched = before;
  while (matched > 0 && part.charCodeAt(matched) !== unit) matched = fallback[matched] ?? 0;
  return part.charCodeAt(matched) === unit ? matched + 1 : matched;
};
