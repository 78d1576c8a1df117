import { type Broker, brokerPlace, brokerSecurity, createBroker } from '@decision/broker';
import { type brokerSettings, type Config, StartRefusal } from '@decision/service-kit';
import { type Opening } from './opening';

type BrokerConfig = Config<typeof brokerSettings> & { readonly host: string; readonly port: number };

/**
 * Opens the message broker; undefined where the configuration names none. Nothing connects yet. Throws `StartRefusal` where the settings of
 * TLS or SASL cannot be used.
 */
export const openBroker = ({
  name,
  config,
  logger,
  stopper,
}: Omit<Opening<BrokerConfig>, 'metrics'>): Broker | undefined => {
  if (config.mqBrokers.length === 0) return undefined;
  const security = brokerSecurity(config);
  if (!security.ok) throw new StartRefusal(security.faults.join(' '));
  const broker = createBroker(
    {
      brokers: config.mqBrokers,
      clientId: name,
      ...brokerPlace(config),
      topicPrefix: config.mqTopicPrefix,
      ...security.settings,
    },
    logger,
  );
  stopper.add('broker', () => broker.close());
  return broker;
};
