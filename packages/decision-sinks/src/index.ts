export { type SinkSettings } from './reading/sink-settings';
export { readSinks } from './reading/read-sinks';
export { passes, toSinkRecord } from './reading/sink-record';
export { openTarget } from './targets/open-target';
export { createDeadLetters } from './delivery/dead-letters';
export { createDelivery, type DeliveryObserver } from './delivery/deliver';
