export {
  openAdmission,
  openFlowAdmission,
  type AdmittedRequest,
  type AdmissionClass,
} from './admission/admitted-requests';
export {
  assignableGroups,
  type Authenticator,
  createAuthenticator,
  generateApiKey,
  type GeneratedApiKey,
  hashApiKeySecret,
  identifyCaller,
  type Identity,
  type PeopleAuthenticator,
  parseApiKey,
  requireEntitlement,
} from './api-keys/authenticator';
export { hashPassword, verifyPassword } from './api-keys/password';
export { createLinkToken, readLinkToken } from './api-keys/link-tokens';
export { createRefusalGuard, guardKeys } from './api-keys/guard-keys';
export {
  admissionSettings,
  brokerSettings,
  cacheSettings,
  databaseSettings,
  decisionSettings,
  evaluationSettings,
  flowDocumentSettings,
  flowSettings,
  type HttpConfig,
  httpSettings,
  inputSettings,
  processSettings,
  publicSettings,
  sessionSettings,
} from './config/service-settings';
export { mailSettings, smtpSettings } from './config/mail-settings';
export { connectorSettings } from './config/connector-settings';
export { ownFiles, type VaultGrants } from './config/vault-grants';
export { readConfig, settingsTable } from './config/read-config';
export { PROXY_SECRET_HEADER, type RequestContext } from './http/request-context';
export {
  type Config,
  filePath,
  limit,
  list,
  oneOf,
  optional,
  Secret,
  secret,
  type Setting,
  type Surroundings,
  text,
  url,
  wholeNumber,
} from './config/setting';
export {
  Answer,
  BytesAnswer,
  LinesAnswer,
  sendBytes,
  sendDirect,
  sendError,
  setCommonHeaders,
  writeSlowly,
} from './http/answer';
export { bindOperation, type BoundOperation, type PageQuery, readCount, readPageQuery } from './http/bind-operation';
export { findUnstorableText, parseJsonLine, UNSTORABLE_TEXT } from './http/body/json-body';
export { type BodyForm, checkJsonContentType, formOfAnswer, isLinesType, LINES_TYPE } from './http/body/content-type';
export { handleClientErrors, SECURITY_HEADERS } from './http/client-errors';
export { bodyTooSlow, readBody } from './http/body/read-body';
export { readPieces } from './http/body/read-pieces';
export { createServiceServer, type HotRoute, type ServiceServer } from './http/service-server';
export { type Readiness, type ServiceRoute } from './http/service-routes';
export { runService } from './lifecycle/run-service';
export { readPemFile, StartRefusal } from './lifecycle/start-refusal';
export { createStopper, type Stopper } from './lifecycle/stopper';
export { createLogger, type Logger } from './logging/logger';
export { FailureLog } from './http/failure';
export { createEventCounter, createMetrics, type Metrics } from './metrics/metrics';
export { inOrder, type InOrderLimits } from './streams/in-order';
