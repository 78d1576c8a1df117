import { type Config, cacheSettings, databaseSettings, httpSettings } from '@decision/service-kit';

/** Everything that the environment may say to this service. */
export const settings = { ...httpSettings(3001), ...databaseSettings, ...cacheSettings };

export type ObjectsApiConfig = Config<typeof settings>;
