/** One limit that an operator can set. */
export interface Limit {
  /** Environment variable that sets it. */
  readonly env: string;
  readonly defaultValue: number;
  /** Smallest and largest value that a service accepts at startup. */
  readonly min: number;
  readonly max: number;
  readonly unit: 'bytes' | 'ms' | 'count';
  readonly meaning: string;
}

const MIB = 1024 * 1024;

/**
 * Every limit by its name in code; the environment names and defaults are those of the specification ("Limits"). A service uses the defaults
 * when the chart sets nothing.
 */
export const limits = {
  httpBodyBytes: {
    env: 'HTTP_BODY_LIMIT_BYTES',
    defaultValue: 6 * MIB,
    min: 1024,
    max: 512 * MIB,
    unit: 'bytes',
    meaning: 'Largest request body, after decompression. Larger ones are answered 413.',
  },
  itemMaxBytes: {
    env: 'ITEM_MAX_BYTES',
    defaultValue: 20 * MIB,
    min: 1024,
    max: 30 * MIB,
    unit: 'bytes',
    meaning: 'Largest single input, alone or in a list. A larger one is answered 413 with its index.',
  },
  largeBodyThresholdBytes: {
    env: 'LARGE_BODY_THRESHOLD_BYTES',
    defaultValue: 8 * MIB,
    min: 1024,
    max: 512 * MIB,
    unit: 'bytes',
    meaning: 'A body above this size, after decompression, is a large one.',
  },
  largeBodyMaxConcurrent: {
    env: 'LARGE_BODY_MAX_CONCURRENT',
    defaultValue: 2,
    min: 1,
    max: 1_000,
    unit: 'count',
    meaning: 'Requests with a large body that one process works on at once; more are answered 429.',
  },
  admissionTargetMs: {
    env: 'ADMISSION_TARGET_MS',
    defaultValue: 100,
    min: 1,
    max: 60_000,
    unit: 'ms',
    meaning: 'Mean time to an answer of one input above which a gateway admits fewer requests and answers 429.',
  },
  maxInFlightRequests: {
    env: 'MAX_IN_FLIGHT_REQUESTS',
    defaultValue: 10_000,
    min: 1,
    max: 1_000_000,
    unit: 'count',
    meaning: 'Requests that one process works on at once at most, whatever their latency; more are answered 429.',
  },
  maxInFlightBytes: {
    env: 'MAX_IN_FLIGHT_BYTES',
    defaultValue: 512 * MIB,
    min: MIB,
    max: 64 * 1024 * MIB,
    unit: 'bytes',
    meaning:
      'Bytes of bodies and answers that one process holds at once at most; what would exceed them is answered 429.',
  },
  flowAdmissionTargetMs: {
    env: 'FLOW_ADMISSION_TARGET_MS',
    defaultValue: 5_000,
    min: 1,
    max: 600_000,
    unit: 'ms',
    meaning:
      'Mean time to an answer of one input of a flow that reaches out above which a gateway admits fewer requests for such flows and answers 429.',
  },
  flowMaxInFlightRequests: {
    env: 'FLOW_MAX_IN_FLIGHT_REQUESTS',
    defaultValue: 1_000,
    min: 1,
    max: 1_000_000,
    unit: 'count',
    meaning:
      'Requests for flows that reach out that one gateway works on at once at most, beside all others; more are answered 429.',
  },
  flowMaxInFlightBytes: {
    env: 'FLOW_MAX_IN_FLIGHT_BYTES',
    defaultValue: 128 * MIB,
    min: MIB,
    max: 64 * 1024 * MIB,
    unit: 'bytes',
    meaning:
      'Maximum bytes of bodies and answers held at a time by requests for flows that reach out, in addition to those of all others; more is answered 429.',
  },
  rpcTimeoutMs: {
    env: 'RPC_TIMEOUT_MS',
    defaultValue: 60_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    meaning: 'The one deadline of a solve request, from its arrival to its answer. Past it the answer is 504.',
  },
  maxWorkers: {
    env: 'MAX_WORKERS',
    defaultValue: 128,
    min: 1,
    max: 10_000,
    unit: 'count',
    meaning:
      'Partitions that solution-response must have. With fewer, the gateway does not become ready and answers 504.',
  },
  workerFloorMs: {
    env: 'WORKER_FLOOR_MS',
    defaultValue: 900_000,
    min: 60_000,
    max: 86_400_000,
    unit: 'ms',
    meaning: 'How long the number of workers that POST /api/v1/scale asks for is wanted.',
  },
  contextBatchChunk: {
    env: 'CONTEXT_BATCH_DB_CHUNK',
    defaultValue: 500,
    min: 1,
    max: 10_000,
    unit: 'count',
    meaning: 'Instances that one database transaction of contexts merges at most.',
  },
  contextAdmissionTargetMs: {
    env: 'CONTEXT_ADMISSION_TARGET_MS',
    defaultValue: 1_000,
    min: 1,
    max: 60_000,
    unit: 'ms',
    meaning:
      'Mean time to an answer about one instance or definition above which contexts-api admits fewer requests and answers 429.',
  },
  contextLeaseMs: {
    env: 'CONTEXT_LEASE_MS',
    defaultValue: 30_000,
    min: 1_000,
    max: 600_000,
    unit: 'ms',
    meaning: 'How long an operation on an instance, or a place in its line, counts when its process is silent.',
  },
  contextMaxWaiting: {
    env: 'CONTEXT_MAX_WAITING',
    defaultValue: 100,
    min: 1,
    max: 10_000,
    unit: 'count',
    meaning: 'Requests that may wait for one instance; more are answered 429.',
  },
  contextUpkeepMs: {
    env: 'CONTEXT_UPKEEP_MS',
    defaultValue: 2_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    meaning:
      'How often a process looks for expired instances, data of deleted contexts, operations whose owner is silent and dependents that have not been notified.',
  },
  decisionLogBufferBytes: {
    env: 'DECISION_LOG_BUFFER_BYTES',
    defaultValue: 128 * MIB,
    min: MIB,
    max: 16 * 1024 * MIB,
    unit: 'bytes',
    meaning:
      'Decision logs that wait for the broker in one process; what does not fit is dropped, counted and said in the log.',
  },
  decisionRecordMaxBytes: {
    env: 'LOG_RECORD_MAX_BYTES',
    defaultValue: 64 * MIB,
    min: 1024,
    max: 64 * MIB,
    unit: 'bytes',
    meaning:
      'Request, response and trace of one decision in the decision logs together. Of a larger one the trace is left out, then the longer of request and response, then both, and the record says `abbreviated`.',
  },
  chunkBytes: {
    env: 'CHUNK_BYTES',
    defaultValue: 2 * MIB,
    min: 16 * 1024,
    max: 2 * MIB,
    unit: 'bytes',
    meaning:
      'Input that one message of a list carries at most; a larger input travels by itself. A sixteenth of EXECUTION_MESSAGE_BYTES at most, since results may be longer than their inputs.',
  },
  executionMessageBytes: {
    env: 'EXECUTION_MESSAGE_BYTES',
    defaultValue: 32 * MIB,
    min: MIB,
    max: 32 * MIB,
    unit: 'bytes',
    meaning:
      'Largest message on solution and solution-response, which both topics must take. Less for brokers that do not take as much.',
  },
  logMessageBytes: {
    env: 'LOG_MESSAGE_BYTES',
    defaultValue: 64 * MIB,
    min: MIB,
    max: 64 * MIB,
    unit: 'bytes',
    meaning: 'Largest message on logs, which the topic must take. Less for brokers that do not take as much.',
  },
  workerSessionTimeoutMs: {
    env: 'WORKER_SESSION_TIMEOUT_MS',
    defaultValue: 30_000,
    min: 6_000,
    max: 300_000,
    unit: 'ms',
    meaning: 'How long the broker waits for a silent worker before it gives its partitions to another.',
  },
  workerHeartbeatIntervalMs: {
    env: 'WORKER_HEARTBEAT_INTERVAL_MS',
    defaultValue: 3_000,
    min: 100,
    max: 60_000,
    unit: 'ms',
    meaning: 'How often a worker sends a heartbeat to the broker.',
  },
  workerPartitionConcurrency: {
    env: 'WORKER_PARTITION_CONCURRENCY',
    defaultValue: 4,
    min: 1,
    max: 64,
    unit: 'count',
    meaning: 'Partitions that one worker fetches and works on at once.',
  },
} as const satisfies Record<string, Limit>;

/** Limits that apply only if an operator sets them. */
export const optionalLimits = {
  bulkMaxItems: {
    env: 'BULK_MAX_ITEMS',
    min: 1,
    max: 1_000_000_000,
    unit: 'count',
    meaning: 'Most inputs of one bulk request; more are answered 400. Unlimited where it is not set.',
  },
} as const satisfies Record<string, Omit<Limit, 'defaultValue'>>;

/** Bytes of a message on the execution topics reserved for headers and the record itself: a sixteenth of the message, at least 128 KiB. */
export const messageHeadroom = (messageBytes: number): number => Math.max(Math.ceil(messageBytes / 16), 128 * 1024);

/** Fixed sizes and times of the broker and cache protocol; not settings (specification: "Limits"). */
export const fixedLimits = {
  /** Maximum number of inputs in a chunk: many tiny ones have results that together would not fit into a message. */
  chunkItems: 10_000,
  /**
   * Maximum bytes of the address and headers of a request, in the whole chain from the ingress on; services additionally accept the headers that
   * proxies add.
   */
  headerBytes: 64 * 1024,
  /** Bytes of headers that proxies in front may add. */
  addedHeaderBytes: 16 * 1024,
  /** Maximum number of characters in the header `Idempotency-Key`. */
  idempotencyKeyLength: 255,
  /** Maximum number of entries in a parallel request. */
  parallelEntries: 1_000,
  /** Maximum nesting of the inputs of a list. */
  listDepth: 10_000,
  /** Largest body, bytes after decompression, of a call that does not declare a large one. */
  smallBodyBytes: 256 * 1024,
  /** Maximum bytes of results of a bulk request that are held until the request is complete; the streamed form has no such bound. */
  heldResultBytes: 512 * MIB,
  /** How long an API key's payload may be served from any cache, ms. */
  apiKeyCacheTtlMs: 60_000,
  /** How long a process may cache a release pin or version pointer without reading the shared cache again, ms. */
  pointerLocalTtlMs: 15_000,
  /** Session timeout and heartbeat of the consumer of replies, ms. */
  replySessionTimeoutMs: 60_000,
  replyHeartbeatIntervalMs: 15_000,
  /** How often a broker client refreshes topic metadata, ms. */
  metadataRefreshMs: 30_000,
  /** A message above this size is always compressed, bytes. */
  compressAboveBytes: 64 * 1024,
} as const;
