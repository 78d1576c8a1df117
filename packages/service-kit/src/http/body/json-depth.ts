const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The position of the first bracket that opens more than `maxDepth` levels, or -1. The text must be JSON. One pass, no recursion. */
export const tooDeepAt = (json: string, maxDepth: number): number => {
  // Each level takes an opening and a closing character.
  if (json.length <= maxDepth * 2) return -1;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charCodeAt(at);
    if (character === QUOTE) at = endOfString(json, at);
    else if (character === OPEN_ARRAY || character === OPEN_OBJECT) {
      depth += 1;
      if (depth > maxDepth) return at;
    } else if (character === CLOSE_ARRAY || character === CLOSE_OBJECT) depth -= 1;
  }
  return -1;
};

/** The position of the quote that closes the string that opens at `start`. */
const endOfString = (json: string, start: number): number => {
  let at = start + 1;
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
};
