export { type Broker, createBroker, createRequester, createResponder } from './broker';
export type { BackOff } from './connection/back-off';
export type { ConsumerEvent } from './consumer/group-consumer-options';
export { hashOfKey } from './producer/keyed-partition';
export { largestMessageBytes, type OutgoingMessage } from './producer/outgoing-message';
export type { Producer, ProducerEvent, ProducerOptions, ProducerState } from './producer/producer';
export type { Settled } from './producer/send-queue';
export type {
  RequestEnvelope,
  Requester,
  RequesterEvent,
  RequesterOptions,
  RequesterStatus,
} from './requester/requester';
export type { Responder, ResponderEvent, ResponderOptions, ResponderStatus } from './responder/responder';
export type { BrokerLog, BrokerSettings, SaslSettings, TlsSettings, TokenSource } from './settings';
export { brokerPlace } from './broker-place';
export type { EnsuredTopics, EnsureTopicsOptions, PartitionPlan } from './topics/topic-admin';
export type { TopicExpectation, TopicProblem } from './topics/topic-check';
export type { TopicWatch } from './topics/topic-watch';
export { brokerSecurity } from './security/broker-security';
