import { Secret } from '@decision/flows';
import { type Connectors, createConnectors } from '../src';
import { createSoapConnector } from '../src/soap/soap-connector';
import { type HttpConnectorOptions } from '../src/api/api-connector';
import { type SeenRequest, startServer, stopServers, type TestServer } from './http-server';
import { callOf, runOf } from './support';

let connectors: Connectors;

const open = (options: Partial<HttpConnectorOptions> = {}): void => {
  const soap = createSoapConnector({ allowedHosts: ['127.0.0.1'], timeoutMs: 10_000, maxBytes: 100_000, ...options });
  connectors = createConnectors({ connectors: [soap] });
};

beforeEach(() => open());
afterEach(async () => {
  await connectors.stop();
  await stopServers();
});

const ask = (fields: Readonly<Record<string, unknown>>, inputs: Readonly<Record<string, unknown>> = {}) =>
  connectors.callFor(runOf())(callOf('soap', fields, { inputs }));

const schema = `<xsd:schema targetNamespace="urn:rates" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <xsd:element name="GetRate"><xsd:complexType><xsd:sequence>
    <xsd:element name="currency" type="xsd:string"/><xsd:element name="amount" type="xsd:double"/>
  </xsd:sequence></xsd:complexType></xsd:element>
  <xsd:element name="GetRateResponse"><xsd:complexType><xsd:sequence>
    <xsd:element name="rate" type="xsd:double"/><xsd:element name="note" type="xsd:string"/>
  </xsd:sequence></xsd:complexType></xsd:element>
</xsd:schema>`;

const wsdlOf = (types: string, endpoint: string, more = ''): string => `<?xml version="1.0"?>
<definitions name="Rates" targetNamespace="urn:rates" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:tns="urn:rates"
  xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  ${more}<types>${types}</types>
  <message name="In"><part name="parameters" element="tns:GetRate"/></message>
  <message name="Out"><part name="parameters" element="tns:GetRateResponse"/></message>
  <portType name="RatesPort"><operation name="GetRate"><input message="tns:In"/><output message="tns:Out"/></operation></portType>
  <binding name="RatesBinding" type="tns:RatesPort">
    <soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="GetRate"><soap:operation soapAction="urn:rates#GetRate"/>
      <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>
  </binding>
  <service name="RatesService"><port name="Rates" binding="tns:RatesBinding"><soap:address location="${endpoint}"/></port></service>
</definitions>`;

const envelope = (body: string): string =>
  `<?xml version="1.0"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${body}</soap:Body></soap:Envelope>`;
const rate = envelope(
  '<r:GetRateResponse xmlns:r="urn:rates"><r:rate>1.25</r:rate><r:note>a &lt; b</r:note></r:GetRateResponse>',
);
const fault = envelope(
  '<soap:Fault><faultcode>soap:Server</faultcode><faultstring>No such currency</faultstring></soap:Fault>',
);

interface Service {
  readonly wsdl?: (port: number) => string;
  readonly answer?: string;
  readonly status?: number;
  readonly files?: Readonly<Record<string, string>>;
}

const serve = async ({ wsdl, answer = rate, status = 200, files = {} }: Service = {}): Promise<TestServer> => {
  const server: TestServer = await startServer((request, response) => {
    response.setHeader('content-type', 'text/xml');
    if (request.method === 'POST') return response.writeHead(status).end(answer);
    const endpoint = `http://127.0.0.1:${server.port}/rates`;
    return response.end(files[request.url] ?? wsdl?.(server.port) ?? wsdlOf(schema, endpoint));
  });
  return server;
};

const at = ({ port }: TestServer): string => `http://127.0.0.1:${port}/rates?wsdl`;
const posted = ({ seen }: TestServer): readonly SeenRequest[] => seen.filter(({ method }) => method === 'POST');

it('CN-40: an operation is called with the inputs, and answers its response and the declared outputs', async () => {
  const server = await serve();
  const fields = { wsdlUrl: at(server), operation: 'GetRate', outputs: [{ key: 'rate', type: 'number' }] };
  const outputs = await ask(fields, { currency: 'E<U>"R', amount: 5 });
  expect(outputs).toEqual({ response: { rate: 1.25, note: 'a < b' }, rate: 1.25 });
  const [request] = posted(server);
  expect(request?.headers['soapaction']).toBe('"urn:rates#GetRate"');
  expect(request?.body).toContain('<currency>E&lt;U&gt;&quot;R</currency><amount>5</amount>');
});

it('CN-40: the only operation need not be named, and the error about an unknown one lists those that exist', async () => {
  const server = await serve();
  await expect(ask({ wsdlUrl: at(server) })).resolves.toHaveProperty('response.rate', 1.25);
  await expect(ask({ wsdlUrl: at(server), operation: 'RatesService.Rates.GetRate' })).resolves.toBeDefined();
  for (const operation of ['GetRat', 'constructor', 'addSoapHeader', 'RatesService.Rates'])
    await expect(ask({ wsdlUrl: at(server), operation })).rejects.toThrow(/which has: GetRate\./);
});

it('CN-41: the description and its imports are read once for many calls', async () => {
  const imports = '<xsd:schema><xsd:import namespace="urn:rates" schemaLocation="types.xsd"/></xsd:schema>';
  const server = await serve({
    wsdl: (port) => wsdlOf(imports, `http://127.0.0.1:${port}/rates`),
    files: { '/types.xsd': schema },
  });
  for (let turn = 0; turn < 3; turn += 1)
    await expect(ask({ wsdlUrl: at(server) }, { currency: 'EUR' })).resolves.toHaveProperty('response.rate', 1.25);
  expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
    ...['GET /rates?wsdl', 'GET /types.xsd', 'POST /rates', 'POST /rates', 'POST /rates'],
  ]);
});

it.each([
  ['a file', 'file:///etc/passwd', /imports something that is not a web address/],
  ['a path in a network of files', 'ftp://127.0.0.1/x', /imports something that is not a web address/],
  ['a private address', 'http://169.254.169.254/types.xsd', /is not connected to/],
])('CN-42: an import of %s is refused', async (_what, location, expected) => {
  const imports = `<xsd:schema><xsd:import namespace="urn:rates" schemaLocation="${location}"/></xsd:schema>`;
  const server = await serve({ wsdl: (port) => wsdlOf(imports, `http://127.0.0.1:${port}/rates`) });
  await expect(ask({ wsdlUrl: at(server) })).rejects.toThrow(expected);
});

it('CN-42: a wsdlUrl and its endpoint must be web addresses at a public or allowed address', async () => {
  await expect(ask({ wsdlUrl: '/etc/passwd' })).rejects.toThrow(/wsdlUrl is not an address/);
  await expect(ask({ wsdlUrl: '<?xml version="1.0"?>' })).rejects.toThrow(/wsdlUrl is not an address/);
  const inner = await serve({ wsdl: () => wsdlOf(schema, 'http://169.254.169.254/rates') });
  await expect(ask({ wsdlUrl: at(inner) })).rejects.toThrow(/is not connected to/);
  const file = await serve({ wsdl: () => wsdlOf(schema, 'file:///etc/passwd') });
  await expect(ask({ wsdlUrl: at(file) })).rejects.toThrow(/endpoint that is not a web address/);
  await connectors.stop();
  open({ allowedHosts: [] });
  await expect(ask({ wsdlUrl: at(inner) })).rejects.toThrow(/FLOW_SOAP_ALLOWED_HOSTS/);
});

it('CN-43: endless imports, large documents and document types are refused', async () => {
  let next = 0;
  const chained = (): string =>
    `<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"><xsd:import schemaLocation="/${(next += 1)}.xsd"/></xsd:schema>`;
  const server = await startServer(({ url }, response) => {
    response.end(url === '/wsdl' ? wsdlOf(chained(), 'http://127.0.0.1/') : chained());
  });
  await expect(ask({ wsdlUrl: `http://127.0.0.1:${server.port}/wsdl` })).rejects.toThrow(/more than 50 documents/);
  const large = await serve({ wsdl: () => wsdlOf(schema, 'http://127.0.0.1/', `<!-- ${'x'.repeat(100_000)} -->`) });
  await expect(ask({ wsdlUrl: at(large) })).rejects.toThrow(/more than 100000 bytes/);
  const bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>';
  const inWsdl = await serve({ wsdl: () => `<?xml version="1.0"?>${bomb}<definitions>&b;</definitions>` });
  await expect(ask({ wsdlUrl: at(inWsdl) })).rejects.toThrow(/document type, which is not read/);
  const inAnswer = await serve({ answer: `<?xml version="1.0"?>${bomb}${rate.slice(21)}` });
  await expect(ask({ wsdlUrl: at(inAnswer) })).rejects.toThrow(/document type, which is not read/);
});

it.each([
  ['markup in a name', { 'a><evil/><a': 1 }, /not a valid name of an element/],
  ['raw XML', { currency: { $xml: '<evil/>' } }, /not a valid name of an element/],
  ['attributes', { $attributes: { x: '"' } }, /not a valid name of an element/],
  ['raw text', { currency: '<![CDATA[x]]><evil/><![CDATA[x]]>' }, /CDATA/],
])('CN-44: %s in inputs is not sent', async (_what, inputs, expected) => {
  const server = await serve();
  await expect(ask({ wsdlUrl: at(server) }, inputs)).rejects.toThrow(expected);
  expect(posted(server)).toEqual([]);
});

it('CN-45: a fault is reported with its reason, other errors with their status, and anything else as not SOAP', async () => {
  const failing = await serve({ answer: fault, status: 500 });
  await expect(ask({ wsdlUrl: at(failing) })).rejects.toThrow(/answered with a fault: No such currency/);
  await expect(ask({ wsdlUrl: at(await serve({ answer: 'down', status: 503 })) })).rejects.toThrow(/answered 503/);
  await expect(ask({ wsdlUrl: at(await serve({ answer: '<html><p>' })) })).rejects.toThrow(/other than readable SOAP/);
  for (const wsdl of ['', '<html></html>', 'no xml', '<definitions', '<a/>'])
    await expect(ask({ wsdlUrl: at(await serve({ wsdl: () => wsdl })) })).rejects.toThrow(
      /readable WSDL|which has: none/,
    );
});

it('CN-46: headers of the node and secrets go only to the origin of its WSDL', async () => {
  const other = await serve();
  const server = await serve({ wsdl: () => wsdlOf(schema, `http://127.0.0.1:${other.port}/rates`) });
  const own = await serve();
  const token = new Secret('token', 'marker-1');
  const headers = { authorization: 'Bearer {{t}}' };
  const inputs = { t: token };
  await ask({ wsdlUrl: at(server), headers }, inputs);
  await ask({ wsdlUrl: at(own), headers }, inputs);
  expect(server.seen[0]?.headers['authorization']).toBe('Bearer marker-1');
  expect(posted(other)[0]?.headers['authorization']).toBeUndefined();
  expect(posted(own)[0]?.headers['authorization']).toBe('Bearer marker-1');
  expect(posted(own)[0]?.headers['idempotency-key']).toMatch(/^[\w-]{43}$/);
});
