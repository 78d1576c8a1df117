/** A value of a vault on its way to a node that may use it. Traces, errors and JSON show its name alone (FL-91). */
export class Secret {
  readonly #value: string;

  constructor(
    readonly name: string,
    value: string,
  ) {
    this.#value = value;
  }

  /** The secret itself, for the port that needs it. */
  reveal(): string {
    return this.#value;
  }

  toJSON(): string {
    return '[secret]';
  }
}
