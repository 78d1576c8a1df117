export { type BackOffBounds, backOffMs, doublingMs } from './back-off';
export { LATE, resultWithin, settledWithin, withDeadline } from './deadline';
export { createEqualDeadlines, type EqualDeadlines } from './equal-deadlines';
export { pause } from './pause';
export { createSlots, type SlotOptions, type Slots } from './slots';
export {
  createThreadPool,
  type ThreadEvent,
  type ThreadFaults,
  type ThreadPool,
  type ThreadPoolOptions,
  type ThreadPoolStatus,
} from './thread-pool';
