import { FailureLog, type Logger } from '@decision/service-kit';
import { type OperationFailure } from './operate';

/** Logs why instances were not settled, with cause, stack and request id; bounded in lines a second, since an outage meets every operation. */
export const createFailureTeller = (logger: Logger): ((failure: OperationFailure) => void) => {
  const failures = new FailureLog();
  return ({ error, requestId, contextId, instances }) =>
    failures.report(() => logger.child({ request_id: requestId, context_id: contextId, instances }), error);
};
