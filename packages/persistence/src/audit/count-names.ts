/** Names that an entry about many things gives; of the others it tells how many there are. */
const MAX_NAMES = 50;

/** Many things as an entry names them. */
interface CountedNames {
  readonly count: number;
  /** The first 50, in the order given. */
  readonly names: readonly string[];
}

/** An entry of bounded size about any number of things; undefined, which is not stored, where there are none. */
export const countNames = (things: readonly { readonly name: string }[]): CountedNames | undefined =>
  things.length === 0 ? undefined : { count: things.length, names: things.slice(0, MAX_NAMES).map(({ name }) => name) };
