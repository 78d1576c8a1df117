export { openAdmission } from './admission/open-admission';
export { type RequestPlace, type RequestPlaces } from './admission/request-place';
export { generateApiKey, type GeneratedApiKey, hashApiKeySecret, parseApiKey } from './api-keys/api-key';
export { guardKeys } from './api-keys/guard-keys';
export { type Authenticator, createAuthenticator, type Identity } from './api-keys/authenticator';
export {
  brokerSettings,
  cacheSettings,
  databaseSettings,
  decisionSettings,
  evaluationSettings,
} from './config/infrastructure-settings';
export { readConfig } from './config/read-config';
export { PROXY_SECRET_HEADER } from './http/client-address';
export { admissionSettings, httpSettings, processSettings } from './config/service-settings';
export { settingsTable } from './config/settings-table';
export { Secret } from './config/secret';
export { type Config, optional, type Setting } from './config/setting';
export { limit, wholeNumber } from './config/setting-builders';
export { url } from './config/url-setting';
export { Answer } from './http/answer/answer';
export { bindOperation, type BoundOperation, type OperationRequest } from './http/bind-operation';
export { findUnstorableText, UNSTORABLE_TEXT } from './http/body/unstorable-text';
export { checkJsonContentType } from './http/body/content-type';
export { requireEntitlement } from './http/create-app';
export { parseJsonLine } from './http/body/json-body';
export { type BodyForm, formOfAnswer, isLinesType, LINES_TYPE } from './http/body/line-media';
export { handleClientErrors } from './http/client-errors';
export { readBody } from './http/body/read-body';
export { readPieces } from './http/body/body-pieces';
export { type RequestContext } from './http/request-context';
export { LinesAnswer } from './http/answer/send-lines';
export { sendBytes } from './http/answer/send-answer';
export { sendError } from './http/answer/send-error';
export {
  createServiceServer,
  type HotRoute,
  type ServiceServer,
  type ServiceServerOptions,
} from './http/service-server';
export { type Readiness, type ServiceRoute } from './http/service-routes';
export { SECURITY_HEADERS } from './http/unreadable-request';
export { writeSlowly } from './http/answer/write-slowly';
export { runService } from './lifecycle/run-service';
export { StartRefusal } from './lifecycle/start-refusal';
export { createStopper, type Stopper } from './lifecycle/stopper';
export { withDeadline } from './lifecycle/with-deadline';
export { createLogger, type Logger } from './logging/logger';
export { FailureLog } from './http/answer/failure-log';
export { createEventCounter } from './metrics/event-counter';
export { createMetrics, type Metrics } from './metrics/metrics';
export { inOrder, type InOrderLimits } from './streams/in-order';
