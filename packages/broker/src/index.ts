export { type Broker, createBroker, createRequester, createResponder, createSubscriber } from './broker';
export { hashOfKey } from './producer/message-partition';
export {
  largestMessageBytes,
  type OutgoingMessage,
  type Producer,
  type ProducerEvent,
  type ProducerOptions,
} from './producer/producer';
export type {
  RequestEnvelope,
  Requester,
  RequesterEvent,
  RequesterOptions,
  RequestSettled,
  RequesterStatus,
  RequestOptions,
} from './requester/requester-options';
export type { Responder, ResponderEvent, ResponderOptions, ResponderStatus } from './responder/responder-options';
export type {
  MessageHolder,
  SubscribedMessage,
  Subscriber,
  SubscriberOptions,
  SubscriberStatus,
} from './subscriber/subscriber';
export { type BrokerLog, type BrokerSettings, instanceIdOf } from './settings';
export { brokerSecurity } from './security/broker-security';
export { creatable } from './topics/plan-topics';
export type { ClusterPlan, PlannedTopic } from './topics/topic-plan';
export type { ClusterChange, ClusterProblem } from './topics/topic-check';
