import autocannon from 'autocannon';
import { type Measurement } from './measurement';

interface HttpLoad {
  readonly url: string;
  /** Paths below the URL that each connection requests in turn. Default: the URL alone. */
  readonly paths?: readonly string[];
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  /** Requests per second of all connections together. Default: unlimited. */
  readonly perSecond?: number;
}

/** Keeps `connections` POST requests in flight for so many seconds. Errors count answers other than 2xx, time-outs and cut connections. */
export const measureHttp = async ({
  url,
  paths,
  body,
  headers,
  connections,
  seconds,
  perSecond,
}: HttpLoad): Promise<Measurement> => {
  const result = await autocannon({
    url,
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
    connections,
    duration: seconds,
    ...(paths === undefined ? {} : { requests: paths.map((path) => ({ path })) }),
    ...(perSecond === undefined ? {} : { overallRate: perSecond }),
  });
  return {
    perSecond: result['2xx'] / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    errors: result.non2xx + result.errors + result.timeouts,
  };
};
