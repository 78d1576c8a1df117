/**
 * Fields with a single description, from which requests, answers, rows, records and messages are derived. The key of a description is the name
 * in requests, answers and columns (`time_zone`); records and messages use the same name in camel case (`timeZone`).
 */

export type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The name of a field in records. */
export const recordName = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/**
 * An object with an entry for each field for which `become` does not return undefined. The caller states the type of the result, since keys are
 * computed here.
 */
export const mapFields = <Result, Field>(
  fields: Readonly<Record<string, Field>>,
  become: (field: Field, name: string) => readonly [string, unknown] | undefined,
): Result =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const entry = become(field, name);
      return entry === undefined ? [] : [entry];
    }),
  ) as Result; // TypeScript does not follow computed keys

/** A member of a record by a computed name. */
export const memberOf = (record: object, name: string): unknown => (record as Readonly<Record<string, unknown>>)[name];
