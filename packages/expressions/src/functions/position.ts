/** A position from 0, or from the end where it is negative, within a length. */
export const resolvePosition = (position: number, length: number): number =>
  position < 0 ? Math.max(0, length + position) : Math.min(position, length);
