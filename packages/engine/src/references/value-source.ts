/** A value of the workspace, which rules refer to by its id. */
export interface StoredValue {
  readonly id: string;
  /** Only for messages: a value may be renamed. */
  readonly name: string;
  /** `function` for a {@link FunctionText}; the type of the value otherwise. */
  readonly type: string;
  readonly value: unknown;
  /**
   * Groups that may see the value, and those of each value that it holds as a member: who is restricted to groups sees it where he shares
   * one with each of these lists. Without it, only who is not restricted does.
   */
  readonly audiences?: readonly (readonly string[])[] | undefined;
}

/** The value of a function: its formula sees its parameters and nothing else. */
export interface FunctionText {
  readonly parameters: readonly string[];
  readonly formula: string;
}

/**
 * Source of the values of rules. It has archived values too: published rules go on using them. `revision` changes whenever a value may have changed;
 * rules look values up again when they see that it has.
 */
export interface ValueSource {
  readonly revision: number | string;
  readonly get: (id: string) => StoredValue | undefined;
}

/** How values are found when a table is bound to them, among those that the writer may use. */
export interface ValueLookUp {
  /** Finds values that may be referred to anew. */
  readonly byName: (name: string) => StoredValue | undefined;
  /** Finds values to which the table is bound already. */
  readonly byId: (id: string) => StoredValue | undefined;
}
