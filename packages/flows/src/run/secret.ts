/** A value from a vault for a node that may use it. Traces, errors and JSON show only its name (FL-91). */
export class Secret {
  readonly #value: string;

  constructor(
    readonly name: string,
    value: string,
  ) {
    this.#value = value;
  }

  /** The plain secret, for the port that needs it. */
  reveal(): string {
    return this.#value;
  }

  toJSON(): string {
    return '[secret]';
  }
}
