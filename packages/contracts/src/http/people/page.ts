import { Type } from '@sinclair/typebox';
import { type ErrorCode } from '../../error-codes';
import { type HttpMethod, type Operation } from '../operation';

const Page = Type.String({ $id: 'Page', description: 'A page for a browser.' });

/** The description of a call for a page, or for a form on one: most of an {@link Operation} is the same for all of them. */
interface PageDescription {
  readonly id: string;
  /** Default `get`. */
  readonly method?: HttpMethod;
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Default 200; pages that only redirect the browser answer 303 or 302. */
  readonly status?: number;
  readonly pathParameters?: Operation['pathParameters'];
  readonly errors?: readonly ErrorCode[];
}

/** The call behind a page of the service for people. It requires no key. */
export const page = ({ status = 200, method = 'get', pathParameters = [], errors = [], ...rest }: PageDescription) =>
  ({
    ...rest,
    ...{ service: 'auth-proxy-adapter', tag: 'People', method, pathParameters, errors },
    success: {
      status,
      description: status === 200 ? 'The page.' : 'Where to go on, in the header location.',
      mediaType: 'text/html',
      schema: Page,
      example: '<!doctype html><title>Decision service</title>',
    },
  }) as const satisfies Operation;
