import { type FlowOutput } from '@decision/contracts';
import { isMissing, isPlainObject } from '@decision/values';
import { LRUCache } from 'lru-cache';
import { type Client, type IHttpClient, type IOptions, type WSDL } from 'soap';
import { checkStatus, type HttpConnectorOptions, isDeeperThan, MAX_DEPTH } from '../api/api-connector';
import { apiHeaders, apiUrl } from '../api/api-request';
import { type Connector, type ConnectorCall, ConnectorFailure, type NodeOutputs } from '../connector';
import { digestOf } from '../core/identity';
import { createAddressGuard } from '../network/address-guard';
import { createHttpClient, type HttpClient, isWeb, originOf } from '../network/http-client';
import { inputAt, revealed } from '../templates';

/**
 * Maximum number of descriptions that are kept, of their characters together, and for how long. A parsed description takes several times
 * the memory of its text.
 */
const KEPT_WSDLS = { max: 100, maxSize: 8_388_608, ttl: 300_000 } as const;
/** Documents of one description, including imports. */
const MAX_DOCUMENTS = 50;
/** Key that holds the attributes of an element of an answer. Inputs cannot have such a name. */
const ATTRIBUTES = '$attributes';

/** Nodes of type `soap`: one operation of a service that a WSDL describes. */
export const createSoapConnector = ({ allowedHosts, timeoutMs, ...options }: HttpConnectorOptions): Connector => {
  const guard = createAddressGuard({
    allowed: allowedHosts,
    setting: 'FLOW_SOAP_ALLOWED_HOSTS',
    lookup: options.lookup,
  });
  const http = createHttpClient({ guard, maxBytes: options.maxBytes, ca: options.ca });
  const kept = new LRUCache<string, WSDL>(KEPT_WSDLS);
  const urlOf = ({ fields, inputs }: ConnectorCall): URL => apiUrl(String(fields['wsdlUrl']), inputs, 'wsdlUrl');
  return {
    type: 'soap',
    timeoutMs,
    targetOf: (call) => originOf(urlOf(call)),
    // Requests carry an idempotency key.
    isRepeatable: () => true,
    run: async (call) => {
      const url = urlOf(call);
      const headers = apiHeaders(call.fields['headers'], call.inputs);
      const key = digestOf(call.workspaceId, url.href, JSON.stringify(headers));
      const transport = new Transport({ http, call, headers, origin: originOf(url), maxBytes: options.maxBytes });
      let wsdl = kept.get(key);
      if (wsdl === undefined) {
        wsdl = await readWsdl(url, transport);
        kept.set(key, wsdl, { size: Math.max(1, transport.readBytes) });
      }
      return askOperation(wsdl, call, transport);
    },
    stop: () => http.stop(),
  };
};

const optionsOf = (transport: Transport): IOptions => ({
  httpClient: transport as unknown as IHttpClient, // the library uses the callback, and ignores the returned value
  disableCache: true,
  attributesKey: ATTRIBUTES,
  wsdl_options: {
    // The library would read a file of this machine for a location that is not a web address.
    overrideImportLocation: (location: string) => {
      if (URL.canParse(location) && isWeb(new URL(location))) return location;
      throw new ConnectorFailure(
        'The WSDL imports something that is not a web address; only http:// and https:// are read.',
        {
          outcome: 'refused',
        },
      );
    },
  },
});

const readWsdl = async (url: URL, transport: Transport): Promise<WSDL> => {
  const { createClientAsync } = await import('soap');
  try {
    const client = await Promise.race([createClientAsync(url.href, optionsOf(transport)), transport.broken]);
    return client.wsdl;
  } catch (error) {
    if (error instanceof ConnectorFailure) throw error;
    throw new ConnectorFailure(`${originOf(url)} answered with something other than a readable WSDL; check wsdlUrl.`);
  }
};

type Operation = (args: unknown, callback: (error: Error | null | undefined, result: unknown) => void) => void;

const askOperation = async (wsdl: WSDL, call: ConnectorCall, transport: Transport): Promise<NodeOutputs> => {
  const { Client } = await import('soap');
  const { service, port, name } = findOperation(wsdl, call.fields['operation']);
  const client = new Client(wsdl, undefined, optionsOf(transport));
  const args = argumentsOf(call.inputs);
  const asked = new Promise((resolve, reject: (error: Error) => void) => {
    operationOf(
      client,
      service,
      port,
      name,
    )(args, (error, result) => (isMissing(error) ? resolve(result) : reject(error)));
  });
  try {
    return outputsOf(call, await Promise.race([asked, transport.broken]));
  } catch (error) {
    throw error instanceof ConnectorFailure ? error : faultOf(error, transport.origin);
  }
};

/** The library makes an object of functions for each service and port. */
const operationOf = (client: Client, service: string, port: string, name: string): Operation =>
  (client as unknown as Readonly<Record<string, Record<string, Record<string, Operation>>>>)[service]?.[port]?.[
    name
  ] as Operation; // `findOperation` found it in the same description

interface FoundOperation {
  readonly service: string;
  readonly port: string;
  readonly name: string;
}

/** The operation by its name, or by service, port and name with dots; the only one if the node names none. */
const findOperation = (wsdl: WSDL, asked: unknown): FoundOperation => {
  const all = Object.entries(wsdl.definitions.services).flatMap(([service, { ports }]) =>
    Object.entries(ports as Readonly<Record<string, { readonly binding: { readonly methods: object } }>>).flatMap(
      ([port, { binding }]) => Object.keys(binding.methods).map((name) => ({ service, port, name })),
    ),
  );
  const found = isMissing(asked)
    ? all.filter(({ name }) => name === all[0]?.name)
    : all.filter(({ service, port, name }) => asked === name || asked === `${service}.${port}.${name}`);
  const isOnly = !isMissing(asked) || new Set(all.map(({ name }) => name)).size === 1;
  if (found[0] !== undefined && isOnly) return found[0];
  const known = [...new Set(all.map(({ name }) => name))].slice(0, 20).join(', ') || 'none';
  throw new ConnectorFailure(`The node must name an operation of its WSDL, which has: ${known}.`, {
    outcome: 'invalid',
    details: { field: 'operation' },
  });
};

/** The inputs as the content of the request. Names become elements, so each must be a valid name. */
const argumentsOf = (inputs: ConnectorCall['inputs']): unknown => {
  const args = revealed(inputs);
  checkNames(args);
  return args;
};

const checkNames = (value: unknown): void => {
  if (typeof value === 'string' && value.startsWith('<![CDATA['))
    throw unsendable('A text that begins with <![CDATA[ is not sent, since it would be read as XML.');
  if (Array.isArray(value)) value.forEach(checkNames);
  if (!isPlainObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (!/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(name))
      throw unsendable(`The input ${JSON.stringify(name.slice(0, 100))} is not a valid name of an element.`);
    checkNames(member);
  }
};

const unsendable = (message: string): ConnectorFailure => new ConnectorFailure(message, { outcome: 'invalid' });

const outputsOf = ({ fields }: ConnectorCall, result: unknown): NodeOutputs => {
  if (isDeeperThan(result, MAX_DEPTH))
    throw new ConnectorFailure(`The answer nests deeper than ${MAX_DEPTH} levels; ask for less.`);
  // Dates become text, and missing values are left out.
  const response: unknown = JSON.parse(JSON.stringify(result ?? null));
  const declared = (fields['outputs'] ?? []) as readonly FlowOutput[]; // the schema of the node was checked
  const read = declared
    .filter(({ key }) => key !== 'response')
    .map(({ key }) => [key, isPlainObject(response) ? inputAt(response, key) : undefined] as const);
  return Object.fromEntries([['response', response], ...read.filter(([, value]) => !isMissing(value))]);
};

/** The library rejects a fault with the envelope that holds it. */
const faultOf = (error: unknown, origin: string): ConnectorFailure => {
  const fault = isRecord(error) ? inputAt({ root: error['root'] }, 'root.Envelope.Body.Fault') : undefined;
  if (!isPlainObject(fault)) return new ConnectorFailure(`${origin} answered with something other than readable SOAP.`);
  const text = inputAt(fault, 'faultstring') ?? inputAt(fault, 'Reason.Text') ?? inputAt(fault, 'Reason.Text.$value');
  const said = typeof text === 'string' ? text : JSON.stringify(text ?? 'without a reason');
  return new ConnectorFailure(`${origin} answered with a fault: ${said.slice(0, 200)}`);
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

type Callback = (error: unknown, response?: unknown, body?: string) => void;

interface TransportOptions {
  readonly http: HttpClient;
  readonly call: ConnectorCall;
  /** Headers of the node. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of the description. */
  readonly origin: string;
  readonly maxBytes: number;
}

/** The requests that the library makes for one call, through the guarded client. */
class Transport {
  /** Rejects if the library threw while it read an answer, which it reports in no other way. */
  readonly broken: Promise<never>;
  readBytes = 0;
  private documents = 0;
  private fail: (error: unknown) => void = () => undefined;

  get origin(): string {
    return this.options.origin;
  }

  constructor(private readonly options: TransportOptions) {
    this.broken = new Promise<never>((_resolve, reject) => {
      this.fail = reject;
    });
    // Nobody may be waiting for it.
    this.broken.catch(() => undefined);
  }

  /** The function that the library calls: `data` is the envelope; it is missing when a description is read. */
  request(location: string, data: unknown, callback: Callback, headers?: Readonly<Record<string, unknown>>): undefined {
    const answered = typeof data === 'string' ? this.post(location, data, headers ?? {}) : this.read(location);
    answered
      .then(
        ({ status, body }) => callback(null, { status, headers: {}, data: body }, body),
        (error: unknown) => callback(error),
      )
      .catch((error: unknown) => this.fail(error));
    return undefined;
  }

  private async read(location: string): Promise<{ readonly status: number; readonly body: string }> {
    const url = this.urlOf(location);
    this.documents += 1;
    if (this.documents > MAX_DOCUMENTS)
      throw new ConnectorFailure(`The WSDL imports more than ${MAX_DOCUMENTS} documents.`, { outcome: 'refused' });
    const answer = await this.options.http.ask({
      method: 'GET',
      url,
      headers: this.headersFor(url, {}),
      signal: this.options.call.signal,
    });
    checkStatus(answer, originOf(url));
    this.readBytes += answer.body.length;
    if (this.readBytes > this.options.maxBytes)
      throw new ConnectorFailure(`The WSDL has more than ${this.options.maxBytes} bytes including its imports.`, {
        outcome: 'refused',
      });
    return { status: answer.status, body: xmlOf(answer.body, originOf(url)) };
  }

  private async post(
    location: string,
    body: string,
    given: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly status: number; readonly body: string }> {
    const url = this.urlOf(location);
    const own = Object.entries(given).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
    const key = { 'idempotency-key': this.options.call.idempotencyKey };
    const headers = this.headersFor(url, { ...Object.fromEntries(own), ...key });
    const answer = await this.options.http.ask({
      method: 'POST',
      url,
      headers,
      body,
      signal: this.options.call.signal,
    });
    const text = xmlOf(answer.body, originOf(url));
    // A fault comes with its own HTTP status, and says more than the status.
    if (!/<(?:[\w.-]+:)?Fault[\s>]/.test(text)) checkStatus(answer, originOf(url));
    return { status: answer.status, body: text };
  }

  /** Headers of the node go only to the origin that the node names, not to others that a description names. */
  private headersFor(url: URL, own: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return originOf(url) === this.options.origin ? { ...own, ...this.options.headers } : own;
  }

  private urlOf(location: string): URL {
    if (URL.canParse(location) && isWeb(new URL(location))) return new URL(location);
    throw new ConnectorFailure(
      'The WSDL names an endpoint that is not a web address; only http:// and https:// are asked.',
    );
  }
}

/**
 * The text of a document. Documents that declare types or entities are refused: no WSDL or SOAP has them, and they can expand without
 * bound.
 */
const xmlOf = (body: Buffer, origin: string): string => {
  const text = body.toString('utf8');
  if (!/<!(?:DOCTYPE|ENTITY)/i.test(text)) return text;
  throw new ConnectorFailure(`${origin} answered XML with a document type, which is not read.`, { outcome: 'refused' });
};
