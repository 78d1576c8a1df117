import { freePort } from '../network/free-port';
import { makeSelfSigned, type SelfSigned } from '../network/self-signed';
import type { BrokerAccess } from '../stack-options';

/** Further listeners of the broker, for tests of how clients prove who they are. */
export interface SecureListeners {
  readonly access: BrokerAccess;
  readonly identity: SelfSigned;
  readonly ports: { readonly tls: number; readonly sasl: number; readonly saslTls: number };
}

/** The host name that the certificate is made for. */
const SECURE_HOST = 'localhost';

export const chooseSecureListeners = async (access: BrokerAccess): Promise<SecureListeners> => ({
  access,
  identity: makeSelfSigned(SECURE_HOST),
  ports: { tls: await freePort(), sasl: await freePort(), saslTls: await freePort() },
});

type Properties = Readonly<Record<string, string | number | boolean>>;

const LOGIN = 'org.apache.kafka.common.security';

/** Their lines of `server.properties`, beside {@link secureAddresses}. OAuth tokens are accepted without a signature. */
export const secureProperties = ({ access, identity }: SecureListeners): Properties => ({
  'ssl.keystore.type': 'PEM',
  'ssl.keystore.certificate.chain': oneLine(identity.cert),
  'ssl.keystore.key': oneLine(identity.key),
  'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
  ...loginOf('sasl_plaintext', access),
  ...loginOf('sasl_ssl', access),
});

/** As `listeners` writes them. */
export const secureAddresses = ({ ports }: SecureListeners): string[] => [
  `SSL://127.0.0.1:${ports.tls}`,
  `SASL_PLAINTEXT://127.0.0.1:${ports.sasl}`,
  `SASL_SSL://127.0.0.1:${ports.saslTls}`,
];

export const SECURE_PROTOCOLS = ['SSL:SSL', 'SASL_PLAINTEXT:SASL_PLAINTEXT', 'SASL_SSL:SASL_SSL'] as const;

const loginOf = (listener: string, { username, password }: BrokerAccess): Properties => ({
  [`listener.name.${listener}.plain.sasl.jaas.config`]: `${LOGIN}.plain.PlainLoginModule required user_${username}="${password}";`,
  [`listener.name.${listener}.scram-sha-256.sasl.jaas.config`]: `${LOGIN}.scram.ScramLoginModule required;`,
  [`listener.name.${listener}.scram-sha-512.sasl.jaas.config`]: `${LOGIN}.scram.ScramLoginModule required;`,
  [`listener.name.${listener}.oauthbearer.sasl.jaas.config`]: `${LOGIN}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
});

/** A line break as a properties file spells it. */
const oneLine = (pem: string): string => pem.trimEnd().replaceAll('\n', '\\n');
