import { joinResults, type SolutionRequestEnvelope } from '@decision/contracts';
import { type DecisionLogWriter } from './decision-log';
import { answerBytes, evaluateOne } from './evaluate';
import { evaluateChunk } from './evaluate-chunk';
import { type RuleLibrary } from './rule-library';

/** Answers one message of `solution`. Throws `ServiceError` for expected failures. */
export type Handler = (envelope: SolutionRequestEnvelope, payload: Buffer) => Promise<Buffer>;

/** `decisions` is undefined where nothing is to be logged. */
export const createHandler =
  (library: Pick<RuleLibrary, 'get'>, decisions: DecisionLogWriter | undefined): Handler =>
  async (envelope, payload) => {
    const rule = await library.get(envelope.workspaceId, envelope.versionId);
    const { kind } = envelope;
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
