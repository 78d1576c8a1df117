import {
  brokerSettings,
  cacheSettings,
  type Config,
  connectorSettings,
  databaseSettings,
  flowDocumentSettings,
  httpSettings,
  sessionSettings,
  url,
} from '@decision/service-kit';

/** Everything that the environment may say to this service. */
export const settings = {
  ...httpSettings(3001),
  ...databaseSettings,
  ...sessionSettings,
  ...cacheSettings,
  mqBrokers: brokerSettings.mqBrokers,
  ...flowDocumentSettings,
  ...connectorSettings,
  publicUrl: url('PUBLIC_URL', {
    protocols: ['http', 'https'],
    default: 'http://localhost:3000',
    meaning: 'Where people reach this deployment; the links of invitations begin with it.',
  }),
};

export type ObjectsApiConfig = Config<typeof settings>;
