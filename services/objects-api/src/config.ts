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

/** All settings of this service from the environment. */
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
