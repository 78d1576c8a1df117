export { type ClusterOptions, type RunningCluster, startBrokerCluster } from './broker-cluster';
export { freePort } from './network/free-port';
export { makeSelfSigned, type SelfSigned } from './network/self-signed';
export { StackError, type StackErrorCode } from './stack-error';
export {
  type BrokerAccess,
  type RunningStack,
  type SecureBrokers,
  type ServerControl,
  type ServerName,
  type StackOptions,
  type StackProgress,
  type StackStep,
} from './stack-options';
export { startStack } from './stack';
export { stackLocations } from './stack-locations';
export { type TestStack, testStack } from './test-stack';
export { type RunSql, type TableWatch, watchTables } from './table-watch';
export {
  describeMatrix,
  type MatrixKeys,
  type MatrixNames,
  type MatrixRow,
  type MatrixRows,
  type MatrixWorld,
} from './visibility-matrix';
