import { type SolutionRequestEnvelope } from '@decision/contracts';
import { type OperationRun } from '../settle-operations';
import { type DecisionLogWriter, type SolvedInput, solvedInput } from './decision-log';

/** A record holds this many characters of requests and responses, or one decision: far less than the largest message. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** Characters, about, of runs that are held until they are logged; beyond it no rule runs again in its operation. */
export const MOST_HELD_CHARACTERS = 64 * 1024 * 1024;
const CHARACTERS_OF_ITEM = 256;

/** Decisions of one rule in one version that go in one record. */
interface RunRecord {
  readonly slug: string;
  readonly versionId: string;
  readonly items: SolvedInput[];
  characters: number;
}

/** Gathers the rules that run within the operations of one message. */
interface RunLog {
  readonly onRun: (run: OperationRun) => void;
  /** Whether what was gathered takes the memory that there is for it. */
  readonly isFull: () => boolean;
  /** Writes the gathered runs. */
  write(): void;
}

/**
 * Writes the rules that run within the operations of one message as decisions, those of one rule together. Records are numbered in the order in
 * which rules first ran, so that a message that is handled again writes the same ids.
 */
export const createRunLog = (decisions: DecisionLogWriter, envelope: SolutionRequestEnvelope): RunLog => {
  const records: RunRecord[] = [];
  const open = new Map<string, RunRecord>();
  let held = 0;
  return {
    onRun: ({ asset: { slug, effectiveVersion: versionId }, inputs, outcome, durationUs }) => {
      const solved = solvedInput(JSON.stringify(inputs), outcome, durationUs);
      const characters = solved.request.length + solved.result.length;
      let record = open.get(versionId);
      if (record === undefined || record.characters + characters > MOST_CHARACTERS) {
        record = { slug, versionId, items: [], characters: 0 };
        records.push(record);
        open.set(versionId, record);
      }
      record.items.push(solved);
      record.characters += characters;
      held += characters + CHARACTERS_OF_ITEM;
    },
    isFull: () => held > MOST_HELD_CHARACTERS,
    write: () => {
      for (const [index, { slug, versionId, items }] of records.splice(0).entries()) {
        const correlationId = `${envelope.correlationId}.${index + 1}`;
        const origin = envelope.origin && { ...envelope.origin, slug, firstIndex: 0 };
        decisions.write({ ...envelope, correlationId, versionId, origin }, items);
      }
    },
  };
};
