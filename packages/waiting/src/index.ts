export { type BackOffBounds, backOffMs, doublingMs } from './back-off';
export { LATE, resultWithin, settledWithin, withDeadline } from './deadline';
export { pause } from './pause';
