/** Description of a function that contexts add to formulas, in the form of the catalogue of the others. */
interface HostFunctionEntry {
  /** Fewest and most arguments. */
  readonly minimum: number;
  readonly maximum: number;
  /** Position of the argument that names the fact whose history the call reads. */
  readonly historyOf: number;
}

/** Functions that contexts add to the formulas of derived facts (C43), by name. */
export const hostFunctions: ReadonlyMap<string, HostFunctionEntry> = new Map([
  ['history', { minimum: 1, maximum: 1, historyOf: 0 }],
  ['previous', { minimum: 1, maximum: 1, historyOf: 0 }],
]);
