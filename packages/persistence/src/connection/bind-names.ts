/** Values by the names that a statement calls them: `:name`. Cast with `cast(:name as type)`, never with `::`. */
export type Bindings = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/** A statement as the driver takes it. */
export interface BoundStatement {
  readonly text: string;
  readonly values: unknown[];
}

interface NumberedStatement {
  readonly text: string;
  readonly names: readonly string[];
}

/** Statements are constants of this package; those of a caller who composes them must not fill the memory. */
const MOST_STATEMENTS = 1_000;
/** Statements all of whose names had values. */
const numbered = new Map<string, NumberedStatement>();

/**
 * Numbers the names of a statement, each once however often it stands there, so that a list is sent once. A name without a value is left as it is: it
 * may stand in a literal.
 */
export const bindNames = (sql: string, bindings: Bindings): BoundStatement => {
  const known = numbered.get(sql);
  const isKnown = known?.names.every((name) => Object.hasOwn(bindings, name)) === true;
  const { text, names } = isKnown ? known : number(sql, bindings);
  return { text, values: names.map((name) => bindings[name] ?? null) };
};

const number = (sql: string, bindings: Bindings): NumberedStatement => {
  const names: string[] = [];
  let leavesNames = false;
  const text = sql.replace(/(?<![:\w]):([a-z_]\w*)/g, (place, name: string) => {
    if (!Object.hasOwn(bindings, name)) {
      leavesNames = true;
      return place;
    }
    const known = names.indexOf(name);
    return `$${known < 0 ? names.push(name) : known + 1}`;
  });
  const statement = { text, names };
  if (leavesNames) return statement;
  if (numbered.size >= MOST_STATEMENTS) numbered.clear();
  numbered.set(sql, statement);
  return statement;
};
