export { type CallOutcome, type Connector, type ConnectorCall, ConnectorFailure, type NodeOutputs } from './connector';
export { type CallEnd, type Connectors, createConnectors } from './create-connectors';
export { createCodeConnector } from './code/code-connector';
export { createDbConnector } from './db/db-connector';
export { createApiConnector } from './api/api-connector';
export { createSoapConnector } from './soap/soap-connector';
export { createAiConnector } from './ai/ai-connector';
export { createVaultConnector } from './vault/vault-connector';
export { openNotifications } from './notification/open-notifications';
export { openConnectors } from './open-connectors';
export { createEntityConnector } from './entity/entity-connector';
export {
  type EntityContext,
  type EntityState,
  type EntityStep,
  type EntityStore,
  type WrittenRecord,
} from './entity/entity-store';
