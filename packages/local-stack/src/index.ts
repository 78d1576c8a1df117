export { type RunningCluster, startBrokerCluster } from './broker-cluster';
export { type FlightCounter, startFlightCounter } from './network/flight-counter';
export { freePort, isPortFree } from './network/free-port';
export { makeSelfSigned } from './network/self-signed';
export { type ProxiedConnection, startTcpProxy, type TcpProxy } from './network/tcp-proxy';
export { type RunningObjectStore, startObjectStore } from './object-store';
export { tryLock } from './process/lock-file';
export { freezeTree, thawTree } from './process/process-table';
export {
  type BrokerAccess,
  type RunningStack,
  type SecureBrokers,
  type ServerControl,
  type ServerName,
  type StackProgress,
} from './stack-options';
export { startStack } from './stack';
export { stackLocations } from './stack-files';
export { testStack } from './test-stack';
export { waitUntil } from './wait-until';
export { watchTables } from './table-watch';
export {
  describeMatrix,
  type MatrixKeys,
  type MatrixNames,
  type MatrixRow,
  type MatrixRows,
  type MatrixWorld,
} from './visibility-matrix';
