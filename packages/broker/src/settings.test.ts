import { hostname } from 'node:os';
import { instanceIdOf } from './settings';

it('identifies a process by its host and the address that it alone listens on', () => {
  expect(instanceIdOf({ host: '0.0.0.0', port: 3002 })).toEqual({ instanceId: `${hostname()}/0.0.0.0:3002` });
});

it('does not identify a process that listens on any free port', () => {
  expect(instanceIdOf({ host: '0.0.0.0', port: 0 })).toEqual({});
});
