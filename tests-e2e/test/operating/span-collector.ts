import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';

/** A span as a process exported it. */
export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty if the span has none. */
  readonly parentId: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Collects spans sent to it over OTLP (HTTP, protobuf). */
export interface SpanCollector {
  readonly url: string;
  /** All received spans, newest last. */
  readonly spans: CollectedSpan[];
  /** The same as bytes, to search for forbidden content. */
  readonly bodies: Buffer[];
  readonly headers: NodeJS.Dict<string | string[]>[];
  stop(): Promise<void>;
}

export const startSpanCollector = async (): Promise<SpanCollector> => {
  const spans: CollectedSpan[] = [];
  const bodies: Buffer[] = [];
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces);
      if (request.url === '/v1/traces') {
        headers.push(request.headers);
        bodies.push(body);
        spans.push(...readSpans(body));
      }
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return {
    url: `http://127.0.0.1:${port}`,
    ...{ spans, bodies, headers },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/* A minimal protobuf reader, sufficient for traces: fields of varints, of fixed length, and of bytes, by their numbers. */

type Fields = ReadonlyMap<number, readonly Buffer[]>;

const readFields = (bytes: Buffer): Fields => {
  const fields = new Map<number, Buffer[]>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const begin = at;
    const length = lengthOf(tag & 7, varint);
    const from = (tag & 7) === LENGTH_DELIMITED ? at : begin;
    at = length === undefined ? at : from + length;
    fields.set(tag >>> 3, [...(fields.get(tag >>> 3) ?? []), bytes.subarray(from, at)]);
  }
  return fields;
};

const LENGTH_DELIMITED = 2;

/** Bytes of a value by its wire type; undefined for a varint, which has then been read. */
const lengthOf = (type: number, varint: () => number): number | undefined => {
  if (type === 1) return 8;
  if (type === 5) return 4;
  const value = varint();
  return type === LENGTH_DELIMITED ? value : undefined;
};

const all = (fields: Fields, number: number): readonly Buffer[] => fields.get(number) ?? [];
const text = (fields: Fields, number: number): string => (all(fields, number)[0] ?? Buffer.alloc(0)).toString();
const hex = (fields: Fields, number: number): string => (all(fields, number)[0] ?? Buffer.alloc(0)).toString('hex');

/** Text attributes; attributes of other types have only their names. */
const attributesOf = (fields: Fields, number: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    all(fields, number).map((bytes) => {
      const pair = readFields(bytes);
      return [text(pair, 1), text(readFields(all(pair, 2)[0] ?? Buffer.alloc(0)), 1)];
    }),
  );

const readSpans = (body: Buffer): CollectedSpan[] =>
  all(readFields(body), 1).flatMap((resourceSpans) => {
    const fields = readFields(resourceSpans);
    const resource = readFields(all(fields, 1)[0] ?? Buffer.alloc(0));
    const { 'service.name': service = '' } = attributesOf(resource, 1);
    return all(fields, 2)
      .flatMap((scopeSpans) => all(readFields(scopeSpans), 2))
      .map(readFields)
      .map((span) => ({
        ...{ service, name: text(span, 5), traceId: hex(span, 1), spanId: hex(span, 2), parentId: hex(span, 4) },
        ...{ kind: all(span, 6)[0]?.[0] ?? 0, attributes: attributesOf(span, 9) },
      }));
  });
