/** One step of the schema. Never changed once released: a later step changes what it made. */
export interface Migration {
  /** `<four digits>-<what>`; the digits give the order. */
  readonly name: string;
  /** Statements, run in order in one transaction. A question mark must be written `\\?`. */
  readonly sql: string;
}
