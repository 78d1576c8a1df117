import { type SolutionRequestEnvelope } from '@decision/contracts';
import { evaluatePayload } from './evaluate';
import { evaluateChunk } from './evaluate-chunk';
import { type RuleLibrary } from './rule-library';

/** Answers one message of `solution`. Throws `ServiceError` for expected failures. */
export type Handler = (envelope: SolutionRequestEnvelope, payload: Buffer) => Promise<Buffer>;

export const createHandler =
  (library: Pick<RuleLibrary, 'get'>): Handler =>
  async (envelope, payload) => {
    const rule = await library.get(envelope.workspaceId, envelope.versionId);
    const { kind } = envelope;
    return kind === 'solve'
      ? evaluatePayload(rule, payload, envelope)
      : evaluateChunk(rule, payload, { ...envelope, kind });
  };
