import { hostname } from 'node:os';
import { brokerPlace } from './broker-place';

it('names the host and the address, which no two processes can listen on', () => {
  expect(brokerPlace({ host: '0.0.0.0', port: 3002 })).toEqual({ place: `${hostname()}/0.0.0.0:3002` });
});

it('is none where any port will do', () => {
  expect(brokerPlace({ host: '0.0.0.0', port: 0 })).toEqual({});
});
