export { CodeBatch, type CodeThreadAnswer } from './code-batch';
export { CLOCK_FACTOR, type CodeAnswer, type CodeFault, type CodeJob } from './sandbox';
export { startCodeThread } from './start-code-thread';
export { findSyntaxFault, type SyntaxFault } from './syntax';
