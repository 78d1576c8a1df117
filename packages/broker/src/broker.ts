import type { ConsumerGroupKey } from '@decision/contracts';
import { changeLibrary } from './connection/kafkajs-internals';
import { createProducer } from './producer/batching-producer';
import type { Producer, ProducerOptions } from './producer/producer';
import { createRequester as makeRequester } from './requester/requester';
import { type Requester, type RequesterOptions } from './requester/requester-options';
import { createResponder as makeResponder } from './responder/responder';
import { type Responder, type ResponderOptions } from './responder/responder-options';
import type { BrokerLog, BrokerSettings } from './settings';
import { createSubscriber as makeSubscriber, type Subscriber, type SubscriberOptions } from './subscriber/subscriber';
import {
  checkTopics,
  countMembers,
  type EnsuredTopics,
  ensureTopics,
  type EnsureTopicsOptions,
  type PartitionPlan,
} from './topics/topic-admin';
import { planTopics } from './topics/plan-topics';
import type { ClusterPlan } from './topics/topic-plan';
import { type TopicExpectation, type TopicProblem, type TopicWatch, watchTopics } from './topics/topic-check';

/** The message broker as this process uses it. */
export interface Broker {
  readonly settings: BrokerSettings;
  readonly log: BrokerLog;
  /** Makes a producer that is not yet connected. It is stopped with the broker. */
  createProducer(options?: ProducerOptions): Producer;
  /** Problems of topics, as sentences; empty when there are none. Throws `ServiceError` broker_unavailable. */
  checkTopics(expectations: readonly TopicExpectation[]): Promise<readonly TopicProblem[]>;
  /**
   * Number of members of a consumer group, including dead ones that the broker has not noticed yet. Answers within 5 seconds. Throws
   * `ServiceError` broker_unavailable.
   */
  countMembers(group: ConsumerGroupKey): Promise<number>;
  /** Checks topics until they fit, and logs their problems. It is stopped with the broker. */
  watchTopics(expectations: readonly TopicExpectation[]): TopicWatch;
  /** Creates the catalogue's topics that do not exist; others are left alone. Throws `ServiceError` broker_unavailable. */
  ensureTopics(plan: PartitionPlan, options?: EnsureTopicsOptions): Promise<EnsuredTopics>;
  /**
   * What {@link ensureTopics} would create, and how existing topics and the brokers differ from the plan. Changes nothing. Throws `ServiceError`
   * broker_unavailable.
   */
  planTopics(plan: PartitionPlan, options?: EnsureTopicsOptions): Promise<ClusterPlan>;
  /** Stops the part together with the broker. */
  adopt(part: { stop(): Promise<void> }): void;
  /** Stops everything that was made with this broker, newest first. Idempotent. */
  close(): Promise<void>;
}

/**
 * Makes a broker; nothing is connected until one of its parts is started. Throws `ServiceError` internal_error if the installed version of the
 * client library is not the one that this package relies on.
 */
export const createBroker = (settings: BrokerSettings, log: BrokerLog): Broker => {
  changeLibrary();
  const parts: { stop(): Promise<void> }[] = [];
  const broker: Broker = {
    settings,
    log,
    createProducer: (options = {}) => {
      const producer = createProducer(settings, log, options);
      broker.adopt(producer);
      return producer;
    },
    checkTopics: (expectations) => checkTopics(settings, log, expectations),
    countMembers: (group) => countMembers(settings, log, group),
    watchTopics: (expectations) => {
      const watch = watchTopics({ check: () => broker.checkTopics(expectations), log });
      broker.adopt(watch);
      return watch;
    },
    ensureTopics: (plan, options) => ensureTopics(settings, log, plan, options),
    planTopics: (plan, options) => planTopics(settings, log, plan, options),
    adopt: (part) => {
      parts.push(part);
    },
    close: async () => {
      for (const part of parts.splice(0).reverse()) await part.stop();
    },
  };
  return broker;
};

/** Makes a requester that has not been started. It is stopped with the broker. */
export const createRequester = (broker: Broker, options: RequesterOptions): Requester => {
  const requester = makeRequester(broker.settings, broker.log, options);
  broker.adopt(requester);
  return requester;
};

/** Makes a responder that has not been started. It is stopped with the broker. */
export const createResponder = (broker: Broker, options: ResponderOptions): Responder => {
  const responder = makeResponder(broker.settings, broker.log, options);
  broker.adopt(responder);
  return responder;
};

/** Makes a subscriber that has not been started. It is stopped with the broker. */
export const createSubscriber = (broker: Broker, options: SubscriberOptions): Subscriber => {
  const subscriber = makeSubscriber(broker.settings, broker.log, options);
  broker.adopt(subscriber);
  return subscriber;
};
