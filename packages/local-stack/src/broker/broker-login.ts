import type { BrokerAccess } from '../stack-options';

const SECURITY = 'org.apache.kafka.common.security';

/**
 * Lines of `server.properties` that make the listener of clients and that of controllers ask for an account. Clients log in by SCRAM. PLAIN serves
 * clients that find the account in these lines: the broker itself towards its controller, and the probe that waits for the broker.
 */
export const loginProperties = ({ username, password }: BrokerAccess): Readonly<Record<string, string>> => {
  const account = `required username="${username}" password="${password}"`;
  const plain = `${SECURITY}.plain.PlainLoginModule ${account} user_${username}="${password}";`;
  return {
    'listener.name.clients.sasl.enabled.mechanisms': 'SCRAM-SHA-256,PLAIN',
    'listener.name.clients.scram-sha-256.sasl.jaas.config': `${SECURITY}.scram.ScramLoginModule ${account};`,
    'listener.name.clients.plain.sasl.jaas.config': plain,
    'listener.name.controller.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.controller.plain.sasl.jaas.config': plain,
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.mechanism.controller.protocol': 'PLAIN',
  };
};

/** Arguments of the storage tool that make SCRAM accounts, which live in the metadata of the broker. */
export const scramAccount = ({ username, password }: BrokerAccess, mechanisms: readonly string[]): string[] =>
  mechanisms.flatMap((mechanism) => ['--add-scram', `${mechanism}=[name=${username},password=${password}]`]);
