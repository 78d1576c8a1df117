import { list, optional, wholeNumber } from './setting';

/** A host, a host with its port, an address or a network. */
const TARGET = /^(?:[A-Za-z0-9._-]+(?::\d{1,5})?|\[[0-9A-Fa-f:.]+\](?::\d{1,5})?|[0-9A-Fa-f:.]+(?:\/\d{1,3})?)$/;

const allowedHosts = (env: string, kind: string) =>
  list(env, {
    default: [],
    pattern: TARGET,
    items: 'hosts, host:port pairs, addresses and networks',
    meaning: `Private targets that nodes of type ${kind} may ask, such as \`rates.internal:8443\` or \`10.1.0.0/16\`. Public addresses need no entry.`,
  });

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
    meaning: 'How long the code of one node may run.',
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
};
