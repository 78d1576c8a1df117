export { type Fleet, type FleetOptions, type ServerAddresses, startFleet } from './fleet/fleet';
export { ensureAdminKey, prepareServers } from './fleet/prepare';
export { readExamples, readFlowExamples, seedExamples } from './workspace/import-workspace';
export { type ServiceProcess, startServiceProcess } from './fleet/service-process';
