/** Names longer than this are not compared. */
const LONGEST = 64;
/**
 * Maximum pairs of characters that one search compares, some ms; a name that is skipped also costs some. Known names beyond it are ignored.
 */
const MOST_COMPARED = 100_000;
const COST_OF_NAME = 5;

/**
 * The known name that a misspelt one most likely means, or undefined: one that differs only in case and separators, one that it is a prefix
 * of, or one that differs by a few changed, missing, added or swapped characters.
 */
export const nearName = (written: string, known: Iterable<string>): string | undefined => {
  if (written.length > LONGEST) return undefined;
  const bare = bareOf(written);
  let nearest: string | undefined;
  let compared = 0;
  let shortest = Math.max(1, Math.floor(written.length / 3)) + 1;
  for (const name of known) {
    if (name.length > LONGEST) continue;
    if (compared > MOST_COMPARED) break;
    const other = bareOf(name);
    const isFar = Math.abs(bare.length - other.length) >= shortest;
    compared += COST_OF_NAME + (isFar ? 0 : bare.length * other.length);
    const distance = isFar ? Infinity : distanceOf(bare, other);
    if (distance < shortest) {
      nearest = name;
      shortest = distance;
    } else if (nearest === undefined && bare.length > 1 && other.startsWith(bare)) nearest = name;
  }
  return nearest;
};

const bareOf = (name: string): string => name.toLowerCase().replace(/[\s_.-]/g, '');

/** Characters to change, add, remove or swap with their neighbour to turn one string into the other (optimal alignment). */
const distanceOf = (a: string, b: string): number => {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
        swapped ? at(before, column - 2) + 1 : Infinity,
      );
    }
    before = previous;
    previous = current;
  }
  return at(previous, b.length);
};

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity;
