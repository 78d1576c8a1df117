import { limits } from '@decision/contracts';
import {
  brokerSettings,
  type Config,
  cacheSettings,
  databaseSettings,
  httpSettings,
  limit,
} from '@decision/service-kit';

/** Everything that the environment may say to this service. */
export const settings = {
  ...httpSettings(3002),
  ...databaseSettings,
  ...cacheSettings,
  ...brokerSettings,
  rpcTimeoutMs: limit(limits.rpcTimeoutMs),
  maxWorkers: limit(limits.maxWorkers),
};

export type GatewayConfig = Config<typeof settings>;
