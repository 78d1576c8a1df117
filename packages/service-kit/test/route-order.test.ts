import { type Operation, revokeApiKey } from '@decision/contracts';
import { Answer, bindOperation } from '../src/index';
import { send, startTestService } from './test-service';

/** No two operations of contracts overlap today; these would. */
const at = (path: string, pathParameters: Operation['pathParameters']): Operation => ({
  ...revokeApiKey,
  path,
  pathParameters,
});
const id = { name: 'id', description: 'An id.', example: 'x' };

it('tries a literal path before one with a parameter, in whatever order they were bound', async () => {
  const { server, url } = await startTestService({
    operations: [
      bindOperation(at('/values/{id}', [id]), ({ params }) => Promise.resolve(new Answer({ one: params['id'] }))),
      bindOperation(at('/values/all', []), () => Promise.resolve(new Answer({ all: true }))),
    ],
  });
  expect((await send(url, 'DELETE', '/values/all')).body).toEqual({ all: true });
  expect((await send(url, 'DELETE', '/values/7')).body).toEqual({ one: '7' });
  await server.stop(0);
});
