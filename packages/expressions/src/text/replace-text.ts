import { finderOf } from '@decision/values';

/**
 * Replaces every occurrence of a string that is not empty, from left to right. Counts them first: `announce` learns the length of the
 * result before any of it is made, and may throw.
 */
export const replaceText = (
  text: string,
  sought: string,
  replacement: string,
  announce: (length: number) => void,
): string => {
  const find = finderOf(sought);
  let count = 0;
  for (let at = find(text, 0); at >= 0; at = find(text, at + sought.length)) count += 1;
  announce(text.length + count * (replacement.length - sought.length));
  let result = '';
  let from = 0;
  for (let at = find(text, 0); at >= 0; at = find(text, from)) {
    result += text.slice(from, at) + replacement;
    from = at + sought.length;
  }
  return result + text.slice(from);
};
