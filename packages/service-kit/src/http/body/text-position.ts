/** A place in text, as error answers name it. */
export interface TextPosition {
  /** Characters from 0. */
  readonly position: number;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

export const textPosition = (text: string, position: number): TextPosition => {
  const before = text.slice(0, position);
  return { position, line: before.split('\n').length, column: position - before.lastIndexOf('\n') };
};
