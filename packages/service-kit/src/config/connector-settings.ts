import { allowedHosts } from './allowed-hosts';
import { notificationSettings } from './notification-settings';
import { list, optional, secret, text, url, wholeNumber } from './setting';
import { vaultGrants } from './vault-grants';

const time = (env: string, kind: string, ms: number) =>
  wholeNumber(env, {
    default: ms,
    min: 100,
    max: 600_000,
    unit: 'ms',
    meaning: `Time of a node of type ${kind}, all its attempts included; its own timeoutMs can only be shorter.`,
  });

const size = (env: string, kind: string, bytes: number) =>
  wholeNumber(env, {
    default: bytes,
    min: 1_024,
    max: 104_857_600,
    unit: 'bytes',
    meaning: `Largest answer that nodes of type ${kind} read, before and after decompression.`,
  });

/** Nodes of flows that reach out: docs/specs/connectors.md. */
export const connectorSettings = {
  flowMaxCalls: wholeNumber('FLOW_MAX_CALLS', {
    default: 256,
    min: 1,
    max: 10_000,
    meaning: 'Calls of nodes to other systems that run at once in one process; others wait.',
  }),
  flowMaxCallsPerTarget: wholeNumber('FLOW_MAX_CALLS_PER_TARGET', {
    default: 32,
    min: 1,
    max: 10_000,
    meaning: 'Calls of nodes that run at once to one target, such as the origin of an address.',
  }),
  flowCircuitFailures: wholeNumber('FLOW_CIRCUIT_FAILURES', {
    default: 5,
    min: 1,
    max: 1_000,
    meaning: 'Calls in a row that a target does not answer, or answers as broken, before it is left alone for a while.',
  }),
  flowCircuitOpenMs: wholeNumber('FLOW_CIRCUIT_OPEN_MS', {
    default: 10_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    meaning: 'How long such a target is left alone before one call tries it.',
  }),
  flowApiAllowedHosts: allowedHosts('FLOW_API_ALLOWED_HOSTS', 'api'),
  flowApiTimeoutMs: time('FLOW_API_TIMEOUT_MS', 'api', 10_000),
  flowApiMaxBytes: size('FLOW_API_MAX_BYTES', 'api', 10_485_760),
  flowSoapAllowedHosts: allowedHosts('FLOW_SOAP_ALLOWED_HOSTS', 'soap'),
  flowSoapTimeoutMs: time('FLOW_SOAP_TIMEOUT_MS', 'soap', 10_000),
  flowSoapMaxBytes: size('FLOW_SOAP_MAX_BYTES', 'soap', 2_097_152),
  flowDbAllowedHosts: allowedHosts('FLOW_DB_ALLOWED_HOSTS', 'db'),
  flowDbTimeoutMs: time('FLOW_DB_TIMEOUT_MS', 'db', 10_000),
  flowDbMaxRows: wholeNumber('FLOW_DB_MAX_ROWS', {
    default: 10_000,
    min: 1,
    max: 1_000_000,
    meaning: 'Rows that a query of a node of type db may answer; more fail the node.',
  }),
  flowVaultGrants: vaultGrants(
    'FLOW_VAULT_GRANTS',
    'What vault nodes may read, by workspace, such as `* environment:FLOW_SECRET_; 0b7e1c52-6d0f-4a57-9f0e-2f3f8c1d7a90 file:/run/secrets/sales key-value:sales/`. Variables and files of the service itself cannot be granted.',
  ),
  flowVaultUrl: optional(
    url('FLOW_VAULT_URL', {
      protocols: ['http', 'https'],
      meaning: "Key-value store of version 2 behind HashiCorp's HTTP interface, for nodes of type vault.",
    }),
  ),
  flowVaultToken: optional(secret('FLOW_VAULT_TOKEN', { meaning: 'Token for that store.' })),
  flowVaultTokenFile: optional(
    text('FLOW_VAULT_TOKEN_FILE', {
      meaning: 'File with that token instead of FLOW_VAULT_TOKEN, read for each call, so that it can be rotated.',
    }),
  ),
  flowVaultMount: text('FLOW_VAULT_MOUNT', {
    default: 'secret',
    pattern: /^[\w-]+(?:\/[\w-]+)*$/,
    accepts: 'a path of letters, digits, - and _',
    meaning: 'Where the engine is mounted in that store.',
  }),
  flowVaultNamespace: optional(
    text('FLOW_VAULT_NAMESPACE', {
      pattern: /^[\w-]+(?:\/[\w-]+)*\/?$/,
      accepts: 'a path of letters, digits, - and _',
      meaning: 'Namespace in that store, where it has them.',
    }),
  ),
  flowVaultAwsRegion: optional(
    text('FLOW_VAULT_AWS_REGION', {
      pattern: /^[a-z0-9-]{2,50}$/,
      accepts: 'the name of a region, such as eu-central-1',
      meaning:
        'Region of AWS Secrets Manager for nodes of type vault. Without it the provider `aws` is off. Credentials come from the usual sources of AWS clients.',
    }),
  ),
  flowVaultAwsUrl: optional(
    url('FLOW_VAULT_AWS_URL', {
      protocols: ['http', 'https'],
      meaning: 'Endpoint of AWS Secrets Manager if it is not the one of the region, for instance in a private network.',
    }),
  ),
  flowVaultAllowedHosts: allowedHosts('FLOW_VAULT_ALLOWED_HOSTS', 'vault'),
  flowVaultTimeoutMs: time('FLOW_VAULT_TIMEOUT_MS', 'vault', 10_000),
  flowAiUrl: optional(
    url('FLOW_AI_URL', {
      protocols: ['http', 'https'],
      meaning:
        'Endpoint of chat completions that nodes of type ai ask, such as `https://models.internal/v1`; `/chat/completions` is added where it is missing. Without it those nodes fail.',
    }),
  ),
  flowAiApiKey: optional(secret('FLOW_AI_API_KEY', { meaning: 'Bearer token for that endpoint.' })),
  flowAiApiKeyFile: optional(
    text('FLOW_AI_API_KEY_FILE', {
      meaning: 'File with that key instead of FLOW_AI_API_KEY, read for each call, so that it can be rotated.',
    }),
  ),
  flowAiModel: optional(text('FLOW_AI_MODEL', { meaning: 'Model that is asked if a node names none.' })),
  flowAiAllowedModels: list('FLOW_AI_ALLOWED_MODELS', {
    default: [],
    items: 'models',
    meaning: 'Models that nodes may name besides FLOW_AI_MODEL; empty: any that the endpoint has.',
  }),
  flowAiAllowedHosts: allowedHosts('FLOW_AI_ALLOWED_HOSTS', 'ai'),
  flowAiTimeoutMs: time('FLOW_AI_TIMEOUT_MS', 'ai', 30_000),
  flowAiMaxBytes: size('FLOW_AI_MAX_BYTES', 'ai', 1_048_576),
  flowAiMaxPromptCharacters: wholeNumber('FLOW_AI_MAX_PROMPT_CHARACTERS', {
    default: 200_000,
    min: 1_000,
    max: 10_000_000,
    meaning: 'Longest prompt of a node of type ai together with its inputs, in characters.',
  }),
  flowCodeThreads: optional(
    wholeNumber('FLOW_CODE_THREADS', {
      min: 1,
      max: 64,
      meaning:
        'Threads that run the code of nodes. Without it: one less than there are cores, at least 1 and at most 4.',
    }),
  ),
  flowCodeTimeoutMs: wholeNumber('FLOW_CODE_TIMEOUT_MS', {
    default: 1_000,
    min: 10,
    max: 60_000,
    unit: 'ms',
    meaning: 'Processor time that the code of one node may take; waiting for a processor does not count.',
  }),
  flowCodeMemoryBytes: wholeNumber('FLOW_CODE_MEMORY_BYTES', {
    default: 33_554_432,
    min: 1_048_576,
    max: 1_073_741_824,
    unit: 'bytes',
    meaning: 'Memory of the code of one node.',
  }),
  flowCodeMaxOutputBytes: wholeNumber('FLOW_CODE_MAX_OUTPUT_BYTES', {
    default: 4_194_304,
    min: 1_024,
    max: 104_857_600,
    meaning: 'Characters that the outputs of the code of one node may take as JSON.',
  }),
  ...notificationSettings,
};
