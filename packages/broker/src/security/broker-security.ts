import { readFileSync } from 'node:fs';
import type { SaslSettings, TlsSettings } from '../settings';
import { type AwsCredentialSource, awsIamTokens } from './aws-iam-token';
import { oauthTokens } from './oauth-token';

type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512' | 'aws-iam' | 'oauthbearer';

/** A text that is not shown. */
interface HiddenText {
  reveal(): string;
}

/** Environment variables of TLS and SASL; undefined: not set. */
export interface BrokerSecurityValues {
  readonly mqSsl: boolean;
  readonly mqSslCaFile: string | undefined;
  readonly mqSslCertFile: string | undefined;
  readonly mqSslKeyFile: string | undefined;
  readonly mqSslServerName: string | undefined;
  readonly mqSaslMechanism: SaslMechanism | undefined;
  readonly mqSaslUsername: string | undefined;
  readonly mqSaslPassword: HiddenText | undefined;
  readonly mqSaslRegion: string | undefined;
  readonly mqSaslTokenUrl: string | undefined;
  readonly mqSaslScope: string | undefined;
  readonly awsSessionToken: HiddenText | undefined;
  readonly awsContainerCredentialsUrl: string | undefined;
  readonly awsContainerTokenFile: string | undefined;
}

/** Names of the variables, for sentences about them. */
const VARIABLES = {
  mqSslCaFile: 'MQ_SSL_CA_FILE',
  mqSslCertFile: 'MQ_SSL_CERT_FILE',
  mqSslKeyFile: 'MQ_SSL_KEY_FILE',
  mqSslServerName: 'MQ_SSL_SERVER_NAME',
  mqSaslUsername: 'MQ_SASL_USERNAME',
  mqSaslPassword: 'MQ_SASL_PASSWORD',
  mqSaslRegion: 'MQ_SASL_REGION',
  mqSaslTokenUrl: 'MQ_SASL_TOKEN_URL',
  mqSaslScope: 'MQ_SASL_SCOPE',
} as const;
type Variable = keyof typeof VARIABLES;

const SSL_DETAILS = ['mqSslCaFile', 'mqSslCertFile', 'mqSslKeyFile', 'mqSslServerName'] as const;
const SASL_DETAILS = ['mqSaslUsername', 'mqSaslPassword', 'mqSaslRegion', 'mqSaslTokenUrl', 'mqSaslScope'] as const;

/** Variables that each mechanism requires. */
const NEEDED: Readonly<Record<SaslMechanism, readonly Variable[]>> = {
  plain: ['mqSaslUsername', 'mqSaslPassword'],
  'scram-sha-256': ['mqSaslUsername', 'mqSaslPassword'],
  'scram-sha-512': ['mqSaslUsername', 'mqSaslPassword'],
  oauthbearer: ['mqSaslTokenUrl', 'mqSaslUsername', 'mqSaslPassword'],
  'aws-iam': ['mqSaslRegion'],
};

/** How to reach the broker safely, or every reason why these values cannot be used, as sentences without secrets. */
type BrokerSecurity =
  | { readonly ok: true; readonly settings: { readonly tls?: TlsSettings; readonly sasl?: SaslSettings } }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Turns the environment's words into settings. Reads the files of certificates and keys. */
export const brokerSecurity = (values: BrokerSecurityValues): BrokerSecurity => {
  const faults = [...sslFaults(values), ...saslFaults(values)];
  const tls = values.mqSsl ? readTls(values, faults) : undefined;
  if (faults.length > 0) return { ok: false, faults };
  const sasl = values.mqSaslMechanism === undefined ? undefined : saslOf(values, values.mqSaslMechanism);
  return { ok: true, settings: { ...(tls === undefined ? {} : { tls }), ...(sasl === undefined ? {} : { sasl }) } };
};

const sslFaults = (values: BrokerSecurityValues): string[] => {
  if (!values.mqSsl)
    return SSL_DETAILS.filter((name) => values[name] !== undefined).map(
      (name) => `${VARIABLES[name]} is set, but MQ_SSL is not true.`,
    );
  return (values.mqSslCertFile === undefined) === (values.mqSslKeyFile === undefined)
    ? []
    : ['MQ_SSL_CERT_FILE and MQ_SSL_KEY_FILE are set together or not at all.'];
};

const saslFaults = (values: BrokerSecurityValues): string[] => {
  const { mqSaslMechanism: mechanism } = values;
  if (mechanism === undefined)
    return SASL_DETAILS.filter((name) => values[name] !== undefined).map(
      (name) => `${VARIABLES[name]} is set, but MQ_SASL_MECHANISM is not.`,
    );
  const faults = NEEDED[mechanism]
    .filter((name) => values[name] === undefined)
    .map((name) => `MQ_SASL_MECHANISM is ${mechanism}, which needs ${VARIABLES[name]}.`);
  return mechanism === 'aws-iam' ? [...faults, ...awsFaults(values)] : faults;
};

const awsFaults = (values: BrokerSecurityValues): string[] => {
  const faults = values.mqSsl ? [] : ['MQ_SASL_MECHANISM is aws-iam, which needs MQ_SSL to be true.'];
  if ((values.mqSaslUsername === undefined) !== (values.mqSaslPassword === undefined))
    return [...faults, 'MQ_SASL_USERNAME (access key id) and MQ_SASL_PASSWORD (its secret) are set together or not.'];
  return faults;
};

/** Adds to the faults what cannot be read. */
const readTls = (values: BrokerSecurityValues, faults: string[]): TlsSettings => {
  const read = (name: 'mqSslCaFile' | 'mqSslCertFile' | 'mqSslKeyFile'): string | undefined => {
    const file = values[name];
    if (file === undefined) return undefined;
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      const { code = 'unknown error' } = error as NodeJS.ErrnoException; // what the file system throws
      faults.push(`${VARIABLES[name]} names ${file}, which cannot be read (${code}).`);
      return undefined;
    }
  };
  const [ca, cert, key] = [read('mqSslCaFile'), read('mqSslCertFile'), read('mqSslKeyFile')];
  const { mqSslServerName: serverName } = values;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { serverName }),
  };
};

const saslOf = (values: BrokerSecurityValues, mechanism: SaslMechanism): SaslSettings => {
  const { mqSaslUsername: username = '' } = values; // what is needed is there
  const password = values.mqSaslPassword?.reveal() ?? '';
  switch (mechanism) {
    case 'plain':
    case 'scram-sha-256':
    case 'scram-sha-512':
      return { mechanism, username, password };
    case 'oauthbearer': {
      const client = { tokenUrl: values.mqSaslTokenUrl ?? '', clientId: username, clientSecret: password };
      return { mechanism, token: oauthTokens({ ...client, scope: values.mqSaslScope }) };
    }
    case 'aws-iam': {
      return { mechanism, token: awsIamTokens(values.mqSaslRegion ?? '', awsCredentialSource(values)) };
    }
  }
};

const awsCredentialSource = (values: BrokerSecurityValues): AwsCredentialSource => {
  const { mqSaslUsername: accessKeyId, mqSaslPassword: secret, awsContainerCredentialsUrl: url } = values;
  if (accessKeyId !== undefined && secret !== undefined) {
    const accessKey = { accessKeyId, secretAccessKey: secret.reveal(), sessionToken: values.awsSessionToken?.reveal() };
    return { kind: 'given', accessKey };
  }
  return url === undefined
    ? { kind: 'standard' }
    : { kind: 'container', url, authorizationFile: values.awsContainerTokenFile };
};
