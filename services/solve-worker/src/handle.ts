import { joinResults, type SolutionRequestEnvelope } from '@decision/contracts';
import { answerBytes, readInput, solveInput } from './evaluate';
import { evaluateChunk } from './evaluate-chunk';
import { handleSettle, type SettleTools } from './handle-settle';

type Threads = NonNullable<SettleTools['threads']>;

/** Answers one message of `solution`. Throws `ServiceError` for expected failures. */
export type Handler = (
  envelope: SolutionRequestEnvelope,
  payload: Buffer,
  /** Says that the next request may begin: this one waits for a thread. */
  letNextBegin?: () => void,
) => Promise<Buffer>;

const NOBODY_WAITS = (): void => undefined;

export const createHandler = (tools: SettleTools): Handler => {
  const { library, decisions } = tools;
  return async (envelope, payload, letNextBegin = NOBODY_WAITS) => {
    const { kind } = envelope;
    const threads = tools.threads && lettingOthersBegin(tools.threads, letNextBegin);
    if (kind === 'settle') return handleSettle({ ...tools, threads }, envelope, payload);
    const { workspaceId, versionId, receivedAt: now, explain, audience, deadline } = envelope;
    const rule = await library.get(workspaceId, versionId);
    const job = { workspaceId, versionId, now, explain, audience };
    const elsewhere = threads && ((request: string) => threads.solve({ ...job, request }, deadline));
    if (kind === 'solve') {
      const solved = await solveInput(rule, readInput(payload, 'body'), envelope, elsewhere);
      decisions?.write(envelope, [solved]);
      return answerBytes(solved);
    }
    const solved = await evaluateChunk(rule, payload, { ...envelope, kind }, elsewhere);
    decisions?.write(envelope, solved);
    return joinResults(
      kind,
      solved.map(({ result }) => result),
    );
  };
};

const lettingOthersBegin = (threads: Threads, letNextBegin: () => void): Threads => ({
  solve: (job, deadline) => {
    letNextBegin();
    return threads.solve(job, deadline);
  },
});
