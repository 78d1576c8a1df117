import { type Broker, createResponder, type Responder, type ResponderOptions } from '@decision/broker';
import { ServiceError } from '@decision/contracts';
import { FailureLog, type Logger } from '@decision/service-kit';
import { createResponderObserver, exportResponder } from './measure/responder-observer';
import { type Opening } from './opening';

type Handle = ResponderOptions['handle'];

/**
 * Makes what answers requests, as a member of a group, and measures it; its topics are watched. It is neither started nor registered to be
 * stopped.
 */
export const openResponder = (
  broker: Broker,
  { logger, metrics }: Pick<Opening<unknown>, 'logger' | 'metrics'>,
  options: Omit<ResponderOptions, 'onEvent'>,
): Responder => {
  broker.watchTopics([{ topic: 'solution' }, { topic: 'solutionResponse' }]);
  const handle = loggingCauses(options.handle, logger);
  const responder = createResponder(broker, { ...options, handle, onEvent: createResponderObserver(metrics) });
  exportResponder(metrics, responder);
  return responder;
};

/** An answer has the message of a failure alone: its cause is logged here. What is no service error the responder logs itself. */
const loggingCauses = (handle: Handle, logger: Logger): Handle => {
  const failures = new FailureLog();
  return (envelope, payload, letNextBegin) => {
    const answer = handle(envelope, payload, letNextBegin);
    if (Buffer.isBuffer(answer)) return answer;
    return answer.catch((error: unknown) => {
      const { requestId, versionId } = envelope;
      if (error instanceof ServiceError && error.cause !== undefined)
        failures.report(() => logger.child({ request_id: requestId, version_id: versionId }), error);
      throw error;
    });
  };
};
