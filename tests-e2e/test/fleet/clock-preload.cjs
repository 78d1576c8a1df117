'use strict';

/* Loaded into a process before everything else (`node --require`): each SIGUSR2 puts the clock by which its copies grow old CLOCK_STEP_MS ahead. */
const step = Number(process.env.CLOCK_STEP_MS);
const now = performance.now.bind(performance);
let ahead = 0;
performance.now = () => now() + ahead;
process.on('SIGUSR2', () => {
  ahead += step;
});
