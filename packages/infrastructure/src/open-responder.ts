import { type Broker, createResponder, type Responder, type ResponderOptions } from '@decision/broker';
import { type Metrics } from '@decision/service-kit';
import { createResponderObserver, exportResponder } from './measure/responder-observer';

/** Makes what answers requests, as a member of a group, and measures it; its topics are watched. It is neither started nor registered to be stopped. */
export const openResponder = (
  broker: Broker,
  metrics: Metrics,
  options: Omit<ResponderOptions, 'onEvent'>,
): Responder => {
  broker.watchTopics([{ topic: 'solution' }, { topic: 'solutionResponse' }]);
  const responder = createResponder(broker, { ...options, onEvent: createResponderObserver(metrics) });
  exportResponder(metrics, responder);
  return responder;
};
