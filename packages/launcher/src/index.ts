export { type FleetNames, type ServerAddresses } from './fleet/addresses';
export { type Fleet, type FleetOptions, startFleet } from './fleet/fleet';
export { ensureAdminKey, type PreparedWorkspace, prepareServers, type PrepareOptions } from './fleet/prepare';
export { type Example, readExamples, seedExamples } from './fleet/seed-examples';
export { type Ingress, type IngressOptions, startIngress } from './ingress/ingress';
export { LaunchError } from './launch-error';
export { importWorkspace, type ImportWorkspaceOptions } from './workspace/import-workspace';
export { type ServiceProcess, type ServiceProcessOptions, startServiceProcess } from './fleet/service-process';
