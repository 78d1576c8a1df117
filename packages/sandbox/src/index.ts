export { CodeBatch, type CodeThreadAnswer } from './code-batch';
export { type CodeAnswer, type CodeFault, type CodeJob } from './sandbox';
export { startCodeThread } from './start-code-thread';
export { findSyntaxFault, type SyntaxFault } from './syntax';
