import { type FlowOutput, parseJson } from '@decision/contracts';
import { isMissing, isPlainObject } from '@decision/values';
import { type Connector, type ConnectorCall, ConnectorFailure, type NodeOutputs } from '../connector';
import { readJsonPath } from '../json-path';
import { createAddressGuard, type Lookup } from '../network/address-guard';
import { createHttpClient, type HttpAnswer, originOf, retryAfterOf } from '../network/http-client';
import { apiRequestOf, apiUrl } from './api-request';

export interface HttpConnectorOptions {
  /** Targets that are allowed even if they are private: `host`, `host:port`, address or network. */
  readonly allowedHosts: readonly string[];
  /** Time for a node, ms. */
  readonly timeoutMs: number;
  /** Largest answer, bytes. */
  readonly maxBytes: number;
  /** Certificates of authorities that are trusted, PEM. Default: those of the runtime. */
  readonly ca?: string;
  /** Default: the resolver of the system. */
  readonly lookup?: Lookup;
}

/** Deeper answers are refused: code that handles values recurses with their nesting. */
export const MAX_DEPTH = 200;

/** Nodes of type `api`: one HTTP request, its answer as JSON. */
export const createApiConnector = ({ allowedHosts, timeoutMs, ...options }: HttpConnectorOptions): Connector => {
  const guard = createAddressGuard({
    allowed: allowedHosts,
    setting: 'FLOW_API_ALLOWED_HOSTS',
    lookup: options.lookup,
  });
  const client = createHttpClient({ guard, maxBytes: options.maxBytes, ca: options.ca });
  return {
    type: 'api',
    timeoutMs,
    targetOf: ({ fields, inputs }) => originOf(apiUrl(String(fields['url']), inputs)),
    // Methods that are not idempotent carry an idempotency key.
    isRepeatable: () => true,
    run: async (call) => {
      const request = apiRequestOf(call);
      const answer = await client.ask(request);
      const origin = originOf(request.url);
      checkStatus(answer, origin);
      return outputsOf(call, answer, origin);
    },
    stop: () => client.stop(),
  };
};

/** Throws if the status is an error. Temporary statuses allow another attempt. */
export const checkStatus = ({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>, origin: string): void => {
  if (status < 400) return;
  const isBroken = status >= 500 && status !== 501;
  const way = isBroken
    ? 'it is broken or overloaded; try again later'
    : status === 429
      ? 'it accepts no more requests for now; try again later'
      : status === 401 || status === 403
        ? 'check the credentials of the node'
        : 'check url, method, headers and body of the node';
  throw new ConnectorFailure(`${origin} answered ${status}: ${way}.`, {
    mayRetry: isBroken || status === 429,
    blamesTarget: isBroken,
    retryAfterMs: retryAfterOf(headers['retry-after']),
    details: { status },
  });
};

const outputsOf = ({ fields }: ConnectorCall, answer: HttpAnswer, origin: string): NodeOutputs => {
  const declared = (fields['outputs'] ?? []) as readonly FlowOutput[]; // the schema of the node was checked
  const paths = new Map<string, string>([
    ...(fields['extractPaths'] === false ? [] : declared.map(({ key }) => [key, key] as const)),
    ...pathsOf(fields['jsonPaths']),
  ]);
  for (const standard of ['status', 'body']) if (paths.get(standard) === standard) paths.delete(standard);
  const body = bodyOf(answer, origin, paths.size > 0);
  const read = [...paths].map(([key, path]) => [key, readJsonPath(body, path)] as const);
  return Object.fromEntries([
    ...([
      ['status', answer.status],
      ['body', body],
    ] as const),
    ...read.filter(([, value]) => !isMissing(value)),
  ]);
};

/** `{output: path}`, or a list of `{key, path}`. */
const pathsOf = (given: unknown): readonly (readonly [string, string])[] => {
  if (isMissing(given)) return [];
  const entries: readonly (readonly unknown[])[] | undefined = isPlainObject(given)
    ? Object.entries(given)
    : Array.isArray(given) && given.every(isPlainObject)
      ? given.map((entry) => [entry['key'] ?? entry['name'], entry['path'] ?? entry['jsonPath']])
      : undefined;
  const isPair = (entry: readonly unknown[]): entry is readonly [string, string] =>
    entry.every((part) => typeof part === 'string' && part.length <= 1_000);
  if (entries?.every(isPair) === true) return entries;
  throw new ConnectorFailure('The field jsonPaths must be an object of paths by output, or a list of {key, path}.', {
    outcome: 'invalid',
    details: { field: 'jsonPaths' },
  });
};

/** The answer as JSON; as text if its type is not JSON and no output is read from it. */
const bodyOf = ({ headers, body }: HttpAnswer, origin: string, mustBeJson: boolean): unknown => {
  if (body.length === 0) return null;
  const text = body.toString('utf8');
  const type =
    String(headers['content-type'] ?? 'no type')
      .split(';', 1)[0]
      ?.trim()
      .slice(0, 100) ?? '';
  const parsed = parseJson(text);
  if (parsed.ok) {
    if (!isDeeperThan(parsed.value, MAX_DEPTH)) return parsed.value;
    throw new ConnectorFailure(`${origin} answered with JSON that nests deeper than ${MAX_DEPTH} levels.`);
  }
  if (!mustBeJson && !/[/+]json$/i.test(type)) return text;
  throw new ConnectorFailure(
    `${origin} answered ${type} that is not JSON: ${parsed.problem.reason} at position ${parsed.problem.position}. Outputs are read from JSON alone; without them the node gives the text as body.`,
  );
};

/** Whether a value nests deeper than some levels. */
export const isDeeperThan = (value: unknown, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
};
