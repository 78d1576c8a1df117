import {
  brokerSettings,
  cacheSettings,
  connectorSettings,
  databaseSettings,
  flowDocumentSettings,
  httpSettings,
  mailSettings,
  publicSettings,
  sessionSettings,
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
  ...publicSettings,
  ...mailSettings,
};
