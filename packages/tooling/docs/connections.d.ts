/** Connections of one kind between parts of a deployment. */
export interface Connection {
  /** Who opens them: names of components as in the charts, or of a {@link STRANGERS | stranger}. */
  readonly from: readonly string[];
  /** Who accepts them. */
  readonly to: readonly string[];
  readonly carries: string;
  /** The value of the charts without which there are none; undefined: an installation with default values has them. */
  readonly onlyWith?: string;
}

/** Components of the charts that are no services. */
export const SERVERS: Readonly<Record<string, string>>;
/** Parties that are no components of the charts, by name, with the words of the picture. */
export const STRANGERS: Readonly<Record<string, string>>;
/** Who talks to whom. docs/architecture.md shows it, and checks of the charts hold every network policy to it. */
export const CONNECTIONS: readonly Connection[];
