import { openApiDocument, type Operation, ServiceError } from '@decision/contracts';
import { withDeadline } from '@decision/waiting';
import { type Metrics } from '../metrics/metrics';
import { Answer } from './answer';

/** A common route of every service; it requires no key. */
export interface ServiceRoute {
  readonly path: string;
  answer(): Promise<Answer> | Answer;
}

/** Whether a service can accept work, and why not. */
export interface Readiness {
  readonly ready: boolean;
  /** A sentence; absent when it is ready. */
  readonly reason?: string | undefined;
}

interface ServiceRouteOptions {
  readonly name: string;
  readonly version: string;
  readonly metrics: Metrics;
  /** Every operation that the service answers, hot ones included. */
  readonly operations: readonly Operation[];
  /** Body of GET /health. */
  readonly health: () => Promise<object> | object;
  readonly ready: () => Readiness | Promise<Readiness>;
  /** Further paths of the health body besides `/health`. */
  readonly healthPaths?: readonly string[];
}

const HEALTH_DEADLINE_MS = 5_000;
/** Shorter than the deadline of callers. */
const READY_DEADLINE_MS = 2_000;

/** Health, readiness, metrics and the OpenAPI document. */
export const serviceRoutes = (options: ServiceRouteOptions): readonly ServiceRoute[] => {
  const document = openApiDocument(options.operations, { title: options.name, version: options.version });
  const health = async (): Promise<Answer> =>
    new Answer(await withDeadline(Promise.resolve(options.health()), HEALTH_DEADLINE_MS, healthIsLate));
  const ready = async (): Promise<Answer> =>
    readiness(await withDeadline(Promise.resolve(options.ready()), READY_DEADLINE_MS, healthIsLate).catch(notReady));
  const metrics = async (): Promise<Answer> => {
    const { contentType, text } = await options.metrics.render();
    return new Answer(Buffer.from(text), { headers: { 'content-type': contentType } });
  };
  return [
    ...['/health', ...(options.healthPaths ?? [])].map((path) => ({ path, answer: health })),
    { path: '/ready', answer: ready },
    { path: '/metrics', answer: metrics },
    { path: '/api/metrics', answer: metrics },
    { path: '/openapi.json', answer: () => new Answer(document) },
  ];
};

const healthIsLate = (): ServiceError =>
  new ServiceError('deadline_exceeded', `The state of the service was not known within ${HEALTH_DEADLINE_MS} ms.`);

const notReady = (): Readiness => ({ ready: false, reason: 'The state of the service could not be found out.' });

const readiness = ({ ready, reason }: Readiness): Answer =>
  ready
    ? new Answer({ ready: true })
    : new Answer({ ready: false, reason: reason ?? 'The service is starting.' }, { status: 503 });
