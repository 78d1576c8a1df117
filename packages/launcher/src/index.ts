export { type ServerAddresses } from './fleet/addresses';
export { type Fleet, type FleetOptions, startFleet } from './fleet/fleet';
export { ensureAdminKey, prepareServers } from './fleet/prepare';
export { readExamples, seedExamples } from './fleet/seed-examples';
export { type ServiceProcess, startServiceProcess } from './fleet/service-process';
