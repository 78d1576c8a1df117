import { hostname } from 'node:os';
import { instanceIdOf } from './settings';

it('identifies a process by its host and the address that it alone listens on', () => {
  expect(instanceIdOf({ host: '127.0.0.1', port: 3002 })).toEqual({ instanceId: `${hostname()}/127.0.0.1:3002` });
  expect(instanceIdOf({ host: undefined, port: 3002 })).toEqual({ instanceId: `${hostname()}/*:3002` });
});

it('does not identify a process that listens on any free port', () => {
  expect(instanceIdOf({ host: undefined, port: 0 })).toEqual({});
});
