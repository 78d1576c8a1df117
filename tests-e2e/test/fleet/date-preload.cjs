'use strict';

/* Loaded into a process before everything else (`node --require`): its date is CLOCK_SHIFT_MS away from that of the machine. */
const shift = Number(process.env.CLOCK_SHIFT_MS);
const { Date: Real } = globalThis;
globalThis.Date = class Date extends Real {
  constructor(...parts) {
    if (parts.length === 0) super(Real.now() + shift);
    else super(...parts);
  }

  static now() {
    return Real.now() + shift;
  }
};
