import { readFileSync } from 'node:fs';
import type { SaslSettings, TlsSettings, TokenSource } from '../settings';
import { type AwsCredentialSource, awsIamTokens } from './aws-iam-token';
import { fileTokens } from './file-token';
import { gcpTokens } from './gcp-token';
import { oauthTokens } from './oauth-token';

type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512' | 'aws-iam' | 'oauthbearer';

/** Source of the tokens of oauthbearer. */
type OauthSource = 'client-credentials' | 'file' | 'gcp';

/** A text that must not be shown. */
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
  readonly mqSaslTokenSource: OauthSource | undefined;
  readonly mqSaslTokenFile: string | undefined;
  /** Host, or host:port, of the metadata server of Google Cloud. */
  readonly gcpMetadataHost: string;
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
  mqSaslTokenSource: 'MQ_SASL_TOKEN_SOURCE',
  mqSaslTokenFile: 'MQ_SASL_TOKEN_FILE',
} as const;
type Variable = keyof typeof VARIABLES;

const SSL_DETAILS = ['mqSslCaFile', 'mqSslCertFile', 'mqSslKeyFile', 'mqSslServerName'] as const;
const SASL_DETAILS = [
  'mqSaslUsername',
  'mqSaslPassword',
  'mqSaslRegion',
  'mqSaslTokenUrl',
  'mqSaslScope',
  'mqSaslTokenSource',
  'mqSaslTokenFile',
] as const;

/** Variables that each mechanism requires. */
const NEEDED: Readonly<Record<SaslMechanism, readonly Variable[]>> = {
  plain: ['mqSaslUsername', 'mqSaslPassword'],
  'scram-sha-256': ['mqSaslUsername', 'mqSaslPassword'],
  'scram-sha-512': ['mqSaslUsername', 'mqSaslPassword'],
  oauthbearer: [],
  'aws-iam': ['mqSaslRegion'],
};

/** Variables that each source of OAuth tokens requires, and those that it does not use. */
const OAUTH_SOURCES: Readonly<Record<OauthSource, { needs: readonly Variable[]; ignores: readonly Variable[] }>> = {
  'client-credentials': {
    needs: ['mqSaslTokenUrl', 'mqSaslUsername', 'mqSaslPassword'],
    ignores: ['mqSaslTokenFile'],
  },
  file: { needs: ['mqSaslTokenFile'], ignores: ['mqSaslTokenUrl', 'mqSaslScope'] },
  gcp: { needs: [], ignores: ['mqSaslTokenUrl', 'mqSaslScope', 'mqSaslTokenFile'] },
};

/** How to reach the broker securely, or every reason why these values are unusable, as sentences without secrets. */
type BrokerSecurity =
  | { readonly ok: true; readonly settings: { readonly tls?: TlsSettings; readonly sasl?: SaslSettings } }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Turns environment variables into settings. Reads the files of certificates and keys. */
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
  if (mechanism === 'oauthbearer') return oauthFaults(values);
  return mechanism === 'aws-iam' ? [...faults, ...awsFaults(values)] : faults;
};

/** The named source, otherwise the one implied by the other variables. */
const oauthSource = (values: BrokerSecurityValues): OauthSource | undefined => {
  const { mqSaslTokenSource, mqSaslTokenUrl, mqSaslTokenFile } = values;
  if (mqSaslTokenSource !== undefined) return mqSaslTokenSource;
  if (mqSaslTokenUrl !== undefined) return 'client-credentials';
  return mqSaslTokenFile === undefined ? undefined : 'file';
};

const oauthFaults = (values: BrokerSecurityValues): string[] => {
  const source = oauthSource(values);
  if (source === undefined)
    return [
      'MQ_SASL_MECHANISM is oauthbearer, which needs MQ_SASL_TOKEN_URL with MQ_SASL_USERNAME and MQ_SASL_PASSWORD, or MQ_SASL_TOKEN_FILE, ' +
        'or MQ_SASL_TOKEN_SOURCE=gcp.',
    ];
  const { needs, ignores } = OAUTH_SOURCES[source];
  const said = `MQ_SASL_TOKEN_SOURCE is ${source}${values.mqSaslTokenSource === undefined ? ' by default' : ''}`;
  return [
    ...needs
      .filter((name) => values[name] === undefined)
      .map((name) => `MQ_SASL_MECHANISM is oauthbearer, which needs ${VARIABLES[name]}.`),
    ...ignores.filter((name) => values[name] !== undefined).map((name) => `${VARIABLES[name]} is set, but ${said}.`),
    // An access token grants access to more of Google Cloud than its brokers.
    ...(source === 'gcp' && !values.mqSsl ? [`${said}, which needs MQ_SSL to be true.`] : []),
  ];
};

const awsFaults = (values: BrokerSecurityValues): string[] => {
  const faults = values.mqSsl ? [] : ['MQ_SASL_MECHANISM is aws-iam, which needs MQ_SSL to be true.'];
  if ((values.mqSaslUsername === undefined) !== (values.mqSaslPassword === undefined))
    return [...faults, 'MQ_SASL_USERNAME (access key id) and MQ_SASL_PASSWORD (its secret) are set together or not.'];
  return faults;
};

/** Adds a fault for each unreadable file. */
const readTls = (values: BrokerSecurityValues, faults: string[]): TlsSettings => {
  const read = (name: 'mqSslCaFile' | 'mqSslCertFile' | 'mqSslKeyFile'): string | undefined => {
    const file = values[name];
    if (file === undefined) return undefined;
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      const { code = 'unknown error' } = error as NodeJS.ErrnoException; // errors of the file system
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
  const { mqSaslUsername: username = '' } = values; // required variables are present
  const password = values.mqSaslPassword?.reveal() ?? '';
  switch (mechanism) {
    case 'plain':
    case 'scram-sha-256':
    case 'scram-sha-512':
      return { mechanism, username, password };
    case 'oauthbearer':
      return { mechanism, token: oauthTokenSource(values) };
    case 'aws-iam': {
      return { mechanism, token: awsIamTokens(values.mqSaslRegion ?? '', awsCredentialSource(values)) };
    }
  }
};

const oauthTokenSource = (values: BrokerSecurityValues): TokenSource => {
  switch (oauthSource(values)) {
    case 'file':
      return fileTokens(values.mqSaslTokenFile ?? '');
    case 'gcp':
      return gcpTokens(values.gcpMetadataHost);
    default:
      return oauthTokens({
        tokenUrl: values.mqSaslTokenUrl ?? '', // required variables are present
        clientId: values.mqSaslUsername ?? '',
        clientSecret: values.mqSaslPassword?.reveal() ?? '',
        scope: values.mqSaslScope,
      });
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
