import { joinResults, type SolutionRequestEnvelope } from '@decision/contracts';
import { answerBytes, evaluateOne } from './evaluate';
import { evaluateChunk } from './evaluate-chunk';
import { handleSettle, type SettleTools } from './handle-settle';

/** Answers one message of `solution`. Throws `ServiceError` for expected failures. */
export type Handler = (envelope: SolutionRequestEnvelope, payload: Buffer) => Promise<Buffer>;

export const createHandler = (tools: SettleTools): Handler => {
  const { library, decisions } = tools;
  return async (envelope, payload) => {
    const { kind } = envelope;
    if (kind === 'settle') return handleSettle(tools, envelope, payload);
    const rule = await library.get(envelope.workspaceId, envelope.versionId);
    if (kind === 'solve') {
      const solved = evaluateOne(rule, payload, envelope);
      decisions?.write(envelope, [solved]);
      return answerBytes(solved);
    }
    const solved = await evaluateChunk(rule, payload, { ...envelope, kind });
    decisions?.write(envelope, solved);
    return joinResults(
      kind,
      solved.map(({ result }) => result),
    );
  };
};
