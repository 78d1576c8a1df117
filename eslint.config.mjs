export { default } from '@decision/tooling/eslint';
