export { StackError, type StackErrorCode } from './stack-error';
export {
  type RunningStack,
  type ServerControl,
  type ServerName,
  type StackOptions,
  type StackProgress,
  type StackStep,
} from './stack-options';
export { startStack } from './stack';
export { stackLocations } from './stack-locations';
export { type TestStack, testStack } from './test-stack';
